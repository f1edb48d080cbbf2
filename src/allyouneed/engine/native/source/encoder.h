// The encoder, which computes the states of all source tokens, one row for each token.
#pragma once

#include "chunk.h"
#include "source.h"

template <class P>
class Encoder {
 public:
  explicit Encoder(Chunk<P>& chunk)
      : chunk_(chunk), model_(chunk.model), config_(chunk.config), panels_(chunk.team.size()) {}

  // The states [token][d_model] before the encoder's last norm. They stay valid until the next
  // call.
  float* run(const aya_lists& ids, const Source& source) {
    states_.resize(size_t(source.tokens) * config_.d_model);
    for (int s = 0; s < source.sentences(); ++s)
      chunk_.embed(model_.source, ids.ids + ids.offsets[s], source.lengths[s], 0, 1,
                   states_.data() + size_t(source.first[s]) * config_.d_model);
    if (!model_.encoder.empty()) {
      qkv_.resize(size_t(source.tokens) * 3 * model_.width());
      attended_.resize(size_t(source.tokens) * model_.width());
    }
    for (const EncoderLayer<P>& layer : model_.encoder) run_layer(layer, source);
    return states_.data();
  }

 private:
  void run_layer(const EncoderLayer<P>& layer, const Source& source) {
    const int width = model_.width(), d = config_.d_model;
    for (int first = 0; first < source.tokens; first += kChunk) {
      const int count = std::min(kChunk, source.tokens - first);
      chunk_.enter(layer.attention_norm, states_.data() + size_t(first) * d, count);
      apply(chunk_.team, layer.qkv, chunk_.rows, count, qkv_.data() + size_t(first) * 3 * width,
            3 * width);
    }
    if (config_.rotary)
      for (int s = 0; s < source.sentences(); ++s)
        for (int t = 0; t < source.lengths[s]; ++t) {
          float* row = qkv_.data() + size_t(source.first[s] + t) * 3 * width;
          chunk_.turn_heads(row, t);
          chunk_.turn_heads(row + width, t);
        }
    chunk_.team.run([&](int member, int members) {
      const Share share(source.sentences() * config_.heads, member, members);
      for (int i = share.begin; i < share.end; ++i)
        attend(source, i / config_.heads, i % config_.heads, member);
    });
    for (int first = 0; first < source.tokens; first += kChunk) {
      const int count = std::min(kChunk, source.tokens - first);
      float* states = states_.data() + size_t(first) * d;
      chunk_.join(layer.o, attended_.data() + size_t(first) * width, layer.attention_norm, states,
                  count);
      chunk_.feed_forward(layer.feed_forward, layer.feed_forward_norm, states, count);
    }
  }

  // Computes self-attention of head h for sentence s.
  void attend(const Source& source, int s, int h, int member) {
    const int width = model_.width(), length = source.lengths[s];
    const int room = int(round_up(length, kPanel));
    Buffer<float>& memory = panels_[member];
    memory.resize(size_t(2) * room * model_.head);
    const HeadMemory<float> head{memory.data(), memory.data() + size_t(room) * model_.head, length,
                                 model_.head};
    const float* q = qkv_.data() + size_t(source.first[s]) * 3 * width + h * model_.head;
    for (int t = 0; t < length; ++t) {
      const float* row = q + size_t(t) * 3 * width;
      head.set(t, row + width, row + 2 * width);
    }
    head.fill_up();
    constexpr int kQueries = 32;  // at a time
    float* scores = chunk_.scores[member].resize(size_t(kQueries) * room);
    float* out = attended_.data() + size_t(source.first[s]) * width + h * model_.head;
    for (int t = 0; t < length; t += kQueries)
      head.attend(q + size_t(t) * 3 * width, 3 * width, std::min(kQueries, length - t),
                  out + size_t(t) * width, width, scores);
  }

  Chunk<P>& chunk_;
  const Model<P>& model_;
  const aya_config& config_;
  Buffer<float> states_, qkv_, attended_;
  std::vector<Buffer<float>> panels_;  // keys and values of a head, one buffer for each thread
};
