// Exercises the whole engine through its C interface, to be run under sanitizers: models of odd
// shapes in both precisions, every search, and requests that must be refused. Prints one word for
// every part that holds.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "interface.h"

namespace {

constexpr int kVocabulary = 53, kModel = 20, kHeads = 3, kWidth = 6, kHidden = 33, kPositions = 40;

// Numbers that follow from a tensor's name alone.
int64_t size_of(const std::string& name) {
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

int64_t fetch(const char* name, int64_t first, int64_t count, float* into) {
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

std::vector<char> stored;

int32_t write_stored(void* bytes, int64_t size) {
  const char* from = static_cast<const char*>(bytes);
  stored.insert(stored.end(), from, from + size);
  return 1;
}

int32_t read_stored(void* bytes, int64_t size) {
  std::memcpy(bytes, stored.data(), size_t(size));
  return 1;
}

int32_t refuse(void*, int64_t) { return 0; }

aya_config config() {
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
    const size_t places = lengths.size() * 3 * room;
    found_ids.resize(places), log_p.resize(places), attention.resize(places * kPositions);
    found_lengths.resize(lengths.size() * 3), scores.resize(lengths.size() * 3);
    found = {room,          kPositions,           found_ids.data(), log_p.data(),
             found_lengths.data(), scores.data(), attention.data()};
  }

  int room;
  std::vector<int32_t> ids, limits, found_ids, found_lengths;
  std::vector<int64_t> offsets{0};
  std::vector<double> penalties, chances, scores;
  std::vector<float> log_p, attention;
  aya_request request = {};
  aya_found found = {};
};

char error[kErrorBytes];
int rounds = 8;  // of random selections; the program's argument asks for others

bool searches(void* worker) {
  const int32_t heads[] = {0, 2};
  for (int beam : {1, 4})
    for (int layer : {-1, 0, 1})
      for (const auto& lengths : {std::vector<int>{5}, std::vector<int>{9, 1, 40, 2, 33}}) {
        Batch batch(lengths);
        batch.request.options.beam = beam;
        batch.request.options.n_best = beam == 1 ? 1 : 3;
        batch.request.options.no_repeat_ngram = 2;
        batch.request.attention = {layer, 2, heads};
        if (aya_search(worker, &batch.request, &batch.found, error)) return false;
        if (batch.found_lengths[0] < 1) return false;
      }
  return true;
}

bool samples(void* worker) {
  Batch batch({4, 17, 3});
  batch.request.options.samples = 3;
  for (const double top_p : {1.0, 0.5}) {
    batch.request.options.top_p = top_p;
    batch.request.options.top_k = top_p < 1.0 ? 7 : 0;
    if (aya_search(worker, &batch.request, &batch.found, error)) return false;
  }
  return true;
}

bool selections(void* worker) {
  Batch batch({4, 6});
  std::vector<int32_t> ids{0, 1, 2, 9, 11, 0, 1, 2, 5, 40, 52};
  const std::vector<int64_t> offsets{0, 5, 11}, prefix_offsets{0, 1, 3};
  const std::vector<int32_t> prefix{9, 5, 40};
  const aya_lists selection{2, 11, ids.data(), offsets.data()};
  const aya_lists prefixes{2, 3, prefix.data(), prefix_offsets.data()};
  batch.request.selection = &selection;
  batch.request.prefixes = &prefixes;
  return !aya_search(worker, &batch.request, &batch.found, error) && batch.found_ids[0] == 9;
}

// Selections of random sizes, from one id to all of them, in every kind of search. Some prefixes have
// ids that their sentence's selection lacks. Every id after a prefix must be of the selection; a search
// that has no id left to choose is refused.
bool random_selections(void* worker) {
  uint32_t state = 5;
  int found = 0;
  const auto below = [&](int bound) {
    state = state * 1664525u + 1013904223u;
    return int(state >> 8) % bound;
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> lengths(1 + below(6));
    for (int& length : lengths) length = 1 + below(kPositions);
    Batch batch(lengths, 2 + below(20));
    batch.request.options.beam = below(2) ? 4 : 1;
    batch.request.options.n_best = 1;
    batch.request.options.samples = below(3) ? 0 : 1;
    batch.request.options.no_repeat_ngram = below(3);
    batch.request.options.top_k = below(5);
    std::vector<std::vector<bool>> may(lengths.size(), std::vector<bool>(kVocabulary));
    std::vector<int32_t> ids, prefix;
    std::vector<int64_t> offsets{0}, prefix_offsets{0};
    for (std::vector<bool>& mine : may) {
      const int share = 1 + below(kVocabulary);
      mine[below(kVocabulary)] = true;
      for (int id = 0; id < kVocabulary; ++id) mine[id] = mine[id] || below(kVocabulary) < share;
      for (int id = 0; id < kVocabulary; ++id)
        if (mine[id]) ids.push_back(id);
      if (below(2)) ids.push_back(ids.back());  // twice
      offsets.push_back(int64_t(ids.size()));
      if (below(3) == 0) prefix.push_back(below(kVocabulary));
      prefix_offsets.push_back(int64_t(prefix.size()));
    }
    const int32_t sentences = int32_t(lengths.size());
    const aya_lists selection{sentences, int64_t(ids.size()), ids.data(), offsets.data()};
    const aya_lists prefixes{sentences, int64_t(prefix.size()), prefix.data(),
                             prefix_offsets.data()};
    batch.request.selection = &selection;
    batch.request.prefixes = &prefixes;
    std::memset(error, 0, sizeof error);
    const int32_t status = aya_search(worker, &batch.request, &batch.found, error);
    if (status != AYA_OK && !error[0]) return false;
    if (status != AYA_OK) continue;
    ++found;
    for (int s = 0; s < sentences; ++s)
      for (int i = int(prefix_offsets[s + 1] - prefix_offsets[s]); i < batch.found_lengths[s]; ++i)
        if (!may[s][batch.found_ids[s * batch.room + i]]) return false;
  }
  return found > rounds / 4;
}

bool streams(void* worker) {
  Batch batch({6});
  batch.request.options.samples = 1;
  batch.request.options.chances = nullptr;
  if (aya_begin(worker, &batch.request, error)) return false;
  int32_t id = 0, count = 0;
  while (!aya_next(worker, &id, error) && id >= 0) ++count;
  return id == -1 && count > 0;
}

bool steps(void* worker) {
  Batch batch({3, 8, 5});
  std::vector<float> logits(6 * kVocabulary);
  const int32_t ids[] = {1, 1, 1, 1, 1, 1}, parents[] = {5, 0, 0, 3};
  return !aya_encode(worker, &batch.request.sources, error) && !aya_start(worker, 2, error) &&
         !aya_step(worker, 6, ids, logits.data(), error) &&
         !aya_select(worker, 4, parents, error) &&
         !aya_step(worker, 4, ids, logits.data(), error);
}

bool refused(void* worker) {
  int wrong = 0;
  const auto spoil = [&](auto change) {
    Batch batch({5, 7});
    change(batch);
    std::memset(error, 0, sizeof error);
    const int32_t status = aya_search(worker, &batch.request, &batch.found, error);
    wrong += status != AYA_FAILED || !error[0];
  };
  spoil([](Batch& b) { b.ids[0] = -1; });
  spoil([](Batch& b) { b.ids[3] = kVocabulary; });
  spoil([](Batch& b) { b.offsets[1] = 1000; });
  spoil([](Batch& b) { b.offsets[1] = -3; });
  spoil([](Batch& b) { b.request.sources.count = 0; });
  spoil([](Batch& b) { b.request.sources.count = -7; });
  spoil([](Batch& b) { b.limits[1] = 0; });
  spoil([](Batch& b) { b.limits[1] = 1 << 30; });
  spoil([](Batch& b) { b.found.room = 3; });
  spoil([](Batch& b) { b.request.options.beam = 0; });
  spoil([](Batch& b) { b.request.options.n_best = 1 << 20; });
  spoil([](Batch& b) { b.request.options.penalty_count = 2; });
  spoil([](Batch& b) { b.request.options.penalties = nullptr; });
  spoil([](Batch& b) { b.request.attention.layer = 2; });
  spoil([](Batch& b) { b.request.attention = {0, 1, nullptr}; });
  spoil([](Batch& b) { b.request.attention.layer = 0, b.found.source_room = 2; });
  spoil([](Batch& b) { b.request.options.samples = 9; });
  spoil([](Batch& b) { b.request.options.samples = 1, b.request.options.temperature = 0.0; });
  const int32_t ids[] = {1, 1, 1}, parents[] = {0, 99};
  std::vector<float> logits(3 * kVocabulary);
  Batch batch({5});
  wrong += aya_encode(worker, &batch.request.sources, error) != AYA_OK;
  wrong += aya_start(worker, 0, error) != AYA_FAILED;
  wrong += aya_start(worker, 1 << 30, error) != AYA_FAILED;
  wrong += aya_step(worker, 3, ids, logits.data(), error) != AYA_FAILED;
  wrong += aya_select(worker, 2, parents, error) != AYA_FAILED;
  wrong += aya_select(worker, -1, parents, error) != AYA_FAILED;
  aya_config c = config();
  c.d_model = -4;
  wrong += aya_model_new(&c, 1, fetch, error) != nullptr;
  c = config();
  c.vocabulary = 1 << 24, c.d_model = 1 << 17;
  wrong += aya_model_new(&c, 0, fetch, error) != nullptr;
  c = config();
  c.end = kVocabulary;
  wrong += aya_model_new(&c, 0, fetch, error) != nullptr;
  return wrong == 0;
}

// A restored model stores the same bytes; bytes of another size, or none, are refused.
bool restores(const aya_config& c, int int8, void* model) {
  int wrong = 0;
  stored.clear();
  wrong += aya_model_store(model, refuse, error) != AYA_FAILED;
  wrong += aya_model_store(model, write_stored, error) != AYA_OK;
  const std::vector<char> first = stored;
  const int64_t size = int64_t(first.size());
  void* again = aya_model_restored(&c, int8, fetch, read_stored, size, error);
  if (!again) return false;
  stored.clear();
  wrong += aya_model_store(again, write_stored, error) != AYA_OK || stored != first;
  aya_model_free(again);
  for (const int64_t other : {size - 64, int64_t(0), int64_t(-1)})
    wrong += aya_model_restored(&c, int8, fetch, read_stored, other, error) != nullptr;
  wrong += aya_model_restored(&c, int8, fetch, refuse, size, error) != nullptr;
  stored.resize(first.size() + 64);
  wrong += aya_model_restored(&c, int8, fetch, read_stored, size + 64, error) != nullptr;
  return wrong == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) rounds = std::atoi(arguments[1]);
  bool all = true;
  for (const int int8 : {0, 1})
    for (const int kind : {0, 1}) {
      aya_config c = config();
      if (kind) {
        c.pre_norm = c.rms = c.rotary = 1;
        c.activation = 1, c.tied_source = c.tied_output = 0, c.normalise_embeddings = 1;
      }
      void* model = aya_model_new(&c, int8, fetch, error);
      if (!model) {
        std::fprintf(stderr, "%s\n", error);
        return 1;
      }
      if (!restores(c, int8, model)) {
        std::fprintf(stderr, "restored, int8=%d kind=%d: %s\n", int8, kind, error);
        all = false;
      }
      for (const int threads : {1, 3}) {
        void* worker = aya_worker_new(model, threads, error);
        if (!worker) return 1;
        const std::map<std::string, bool> parts{
            {"searches", searches(worker)},     {"samples", samples(worker)},
            {"selections", selections(worker)}, {"random selections", random_selections(worker)},
            {"streams", streams(worker)},       {"steps", steps(worker)},
            {"refused", refused(worker)}};
        for (const auto& part : parts)
          if (!part.second) {
            std::fprintf(stderr, "%s, int8=%d kind=%d threads=%d: %s\n", part.first.c_str(), int8,
                         kind, threads, error);
            all = false;
          }
        aya_worker_free(worker);
      }
      aya_model_free(model);
    }
  if (all) std::puts("all");
  return all ? 0 : 1;
}
