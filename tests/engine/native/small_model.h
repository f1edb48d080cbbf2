// A small model of odd shapes whose weights follow from their names, and batches for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interface.h"

constexpr int kVocabulary = 53, kModel = 20, kHeads = 3, kWidth = 6, kHidden = 33, kPositions = 40;

// Numbers that follow from a tensor's name alone.
inline int64_t size_of(const std::string& name) {
  const auto ends = [&](const std::string& end) {
    return name.size() >= end.size() && !name.compare(name.size() - end.size(), end.size(), end);
  };
  const int64_t all = kHeads * kWidth;
  if (ends("positions.table")) return int64_t(kPositions) * kModel;
  if (ends("tokens.weight") || name == "output.weight") return int64_t(kVocabulary) * kModel;
  if (name == "output.bias") return kVocabulary;
  if (ends("norm.weight") || ends("norm.bias")) return kModel;
  for (const char* kind : {"W_Q.", "W_K.", "W_V."}) {
    if (ends(kind + std::string("weight"))) return all * kModel;
    if (ends(kind + std::string("bias"))) return all;
  }
  if (ends("W_O.weight")) return all * kModel;
  if (ends("W_1.weight") || ends("W_2.weight")) return int64_t(kHidden) * kModel;
  if (ends("W_1.bias")) return kHidden;
  if (ends("W_O.bias") || ends("W_2.bias")) return kModel;
  return 0;
}

inline int64_t fetch(const char* name, int64_t first, int64_t count, float* into) {
  const int64_t size = size_of(name);
  if (!into) return size;
  if (first < 0 || count < 0 || first + count > size) return 0;
  uint32_t state = 1;
  for (const char* c = name; *c; ++c) state = state * 31 + uint32_t(*c);
  for (int64_t i = 0; i < first + count; ++i) {
    state = state * 1664525u + 1013904223u;
    if (i >= first) into[i - first] = (float(state >> 8) / float(1 << 24) - 0.5f) * 0.8f;
  }
  return size;
}

inline aya_config config() {
  aya_config c = {};
  c.vocabulary = c.source_vocabulary = kVocabulary;
  c.d_model = kModel, c.heads = kHeads, c.head_width = kWidth, c.d_ff = kHidden;
  c.encoder_layers = c.decoder_layers = 2, c.max_positions = kPositions;
  c.bias = 1, c.tied_source = 1, c.tied_output = 1;
  c.pad = 0, c.start = 1, c.end = 2;
  c.norm_epsilon = 1e-5f, c.embedding_scale = 4.0f;
  return c;
}

// Sources of many lengths, with all the memory that a request and its results need.
struct Batch {
  Batch(const Batch&) = delete;  // its request points to its memory
  explicit Batch(const std::vector<int>& lengths, int room = 12) : room(room) {
    for (const int length : lengths) {
      for (int i = 1; i < length; ++i) ids.push_back(3 + (i * 7 + length) % (kVocabulary - 3));
      ids.push_back(2);
      offsets.push_back(int64_t(ids.size()));
      limits.push_back(room);
    }
    for (int n = 0; n < room + 2; ++n) penalties.push_back(n ? n : 1);
    chances.assign(lengths.size() * 3 * room, 0.37);
    request.sources = {int32_t(lengths.size()), int64_t(ids.size()), ids.data(), offsets.data()};
    request.limits = limits.data();
    aya_options& o = request.options;
    o.beam = 4, o.n_best = 3, o.min_length = 1, o.loop_guard = 1;
    o.penalty_count = room + 2, o.penalties = penalties.data();
    o.top_p = 1.0, o.temperature = 1.0;
    o.chance_count = int64_t(chances.size()), o.chances = chances.data();
    request.attention.layer = -1;
    const size_t places = lengths.size() * 3;
    found_ids.resize(places * room), log_p.resize(places * room);
    attention.resize(places * room * kPositions);
    found_lengths.resize(places), scores.resize(places);
    found = {room,         kPositions,           int64_t(places), found_ids.data(),
             log_p.data(), found_lengths.data(), scores.data(),   attention.data()};
  }

  int room;
  std::vector<int32_t> ids, limits, found_ids, found_lengths;
  std::vector<int64_t> offsets{0};
  std::vector<double> penalties, chances, scores;
  std::vector<float> log_p, attention;
  aya_request request = {};
  aya_found found = {};
};
