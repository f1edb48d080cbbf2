// The keys and values that the decoder's cross-attention reads: one set for each decoder layer and
// sentence, shared by the sentence's hypotheses.
#pragma once

#include "chunk.h"
#include "source.h"

// A receiver of attention weights that ignores them. Parameters: first, rows, head, weights,
// length, stride. `weights` are those of `rows` rows of the chunk, from row `first` on, for one
// head. A row has `length` weights; rows lie `stride` apart.
struct Ignore {
  void operator()(int, int, int, const float*, int, int) const {}
};

template <class P>
class SourceMemory {
 public:
  using Cached = typename P::Cached;

  explicit SourceMemory(Chunk<P>& chunk)
      : chunk_(chunk), model_(chunk.model), config_(chunk.config) {}

  // Takes in a batch, given the encoder's states, which it normalises in place.
  void take(float* states, const Source& source) {
    const int width = model_.width(), d = config_.d_model, layers = int(model_.memory.size());
    source_ = &source;
    place_.clear();
    layer_room_ = 0;
    for (const int length : source.lengths) {
      place_.push_back(layer_room_);
      layer_room_ += round_up(length, kPanel) * 2 * width;
    }
    memory_.resize(layer_room_ * std::max(layers, 1));
    for (int first = 0; first < source.tokens; first += kChunk) {
      const int count = std::min(kChunk, source.tokens - first);
      chunk_.finish(model_.encoder_norm, states + size_t(first) * d, count);
      for (int l = 0; l < layers; ++l) {
        chunk_.widen(model_.memory[l], count);
        store_rows(l, first, count);
      }
    }
    for (int l = 0; l < layers; ++l)
      for (int s = 0; s < source.sentences(); ++s)
        for (int h = 0; h < config_.heads; ++h) head(l, s, h).fill_up();
  }

  int length(int sentence) const { return source_->lengths[sentence]; }

  // Computes the cross-attention of layer l for `count` rows. Reads the queries from the chunk's
  // `wide`, writes the results to its `context`. sentence_of[row] is a row's sentence; the rows of
  // a sentence must follow one another.
  template <class Watch>
  void attend(int l, const int32_t* sentence_of, int count, const Watch& watch) {
    spans_.clear();
    for (int row = 0; row < count;) {
      int end = row + 1;
      while (end < count && sentence_of[end] == sentence_of[row]) ++end;
      spans_.push_back({row, end});
      row = end;
    }
    const int width = model_.width(), stride = chunk_.stride;
    chunk_.team.run([&](int member, int members) {
      const Share share(int(spans_.size()) * config_.heads, member, members);
      for (int i = share.begin; i < share.end; ++i) {
        const Span span = spans_[i / config_.heads];
        const int h = i % config_.heads, rows = span.end - span.begin;
        const HeadMemory<Cached> memory = head(l, sentence_of[span.begin], h);
        float* scores = chunk_.scores[member].resize(size_t(rows) * memory.room());
        memory.attend(chunk_.wide.data() + size_t(span.begin) * stride + h * model_.head, stride,
                      rows, chunk_.context.data() + size_t(span.begin) * width + h * model_.head,
                      width, scores);
        watch(span.begin, rows, h, scores, memory.length, memory.room());
      }
    });
  }

 private:
  struct Span {
    int begin, end;  // rows of one sentence
  };

  // Stores the keys and values of `count` tokens from `first` on. Reads them from the chunk's
  // `wide`.
  void store_rows(int l, int first, int count) {
    const int width = model_.width();
    const std::vector<int>& starts = source_->first;
    int s = int(std::upper_bound(starts.begin(), starts.end(), first) - starts.begin()) - 1;
    for (int row = 0; row < count; ++row) {
      while (first + row >= starts[s] + source_->lengths[s]) ++s;
      const float* keys = chunk_.wide.data() + size_t(row) * chunk_.stride;
      for (int h = 0; h < config_.heads; ++h)
        head(l, s, h).set(first + row - starts[s], keys + h * model_.head,
                          keys + width + h * model_.head);
    }
  }

  HeadMemory<Cached> head(int l, int s, int h) {
    const size_t room = round_up(source_->lengths[s], kPanel);
    Cached* keys = memory_.data() + l * layer_room_ + place_[s] + h * room * model_.head;
    return {keys, keys + room * model_.width(), source_->lengths[s], model_.head};
  }

  Chunk<P>& chunk_;
  const Model<P>& model_;
  const aya_config& config_;
  const Source* source_ = nullptr;
  std::vector<size_t> place_;  // where each sentence's memory begins within a layer's
  size_t layer_room_ = 0;
  Buffer<Cached> memory_;
  std::vector<Span> spans_;
};
