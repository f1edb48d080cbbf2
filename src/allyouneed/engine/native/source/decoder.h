// The decoder, which computes one step at a time. A row is a hypothesis. The rows of a sentence
// follow one another.
#pragma once

#include "looks.h"
#include "source_memory.h"

template <class P>
class Decoder {
 public:
  using Cached = typename P::Cached;

  explicit Decoder(Chunk<P>& chunk)
      : chunk_(chunk), model_(chunk.model), config_(chunk.config), memory_(chunk),
        steps_of_(chunk.team.size()) {}

  // Forgets the batch.
  void drop() {
    sentences_ = steps_ = 0;
    sentence_of_.clear();
    lineage_.clear();
  }

  // Takes in a batch, given the encoder's states, and starts one row for each sentence.
  void take(float* states, const Source& source) {
    memory_.take(states, source);
    sentences_ = source.sentences();
    longest_ = *std::max_element(source.lengths.begin(), source.lengths.end());
    start(1);
  }

  // Starts `count` rows, all empty, for every sentence.
  void start(int count) {
    std::vector<int32_t> sentence_of;
    sentence_of.reserve(size_t(sentences_) * count);
    for (int s = 0; s < sentences_; ++s) sentence_of.insert(sentence_of.end(), count, s);
    std::vector<std::vector<int32_t>> lineage(sentence_of.size());
    sentence_of_.swap(sentence_of);
    lineage_.swap(lineage);
    steps_ = 0;
  }

  // Row r continues the row that had number parents[r]; rows without a child are dropped. Keys and
  // values are not copied, only the numbers that say where a row's past lies.
  void select(const int32_t* parents, int count) {
    std::vector<int32_t> sentence_of;
    std::vector<std::vector<int32_t>> lineage;
    sentence_of.reserve(count);
    lineage.reserve(count);
    for (int row = 0; row < count; ++row) {
      if (parents[row] < 0 || parents[row] >= rows())
        throw std::invalid_argument("row " + std::to_string(parents[row]) + " is none of " +
                                    std::to_string(rows()));
      sentence_of.push_back(sentence_of_[parents[row]]);
      lineage.push_back(lineage_[parents[row]]);
    }
    sentence_of_.swap(sentence_of);
    lineage_.swap(lineage);
  }

  // Forgets all but the first `steps` steps.
  void rewind(int steps) {
    steps_ = steps;
    for (std::vector<int32_t>& line : lineage_) line.resize(steps);
  }

  int sentences() const { return sentences_; }
  int rows() const { return int(sentence_of_.size()); }
  int steps() const { return steps_; }
  int sentence_of(int row) const { return sentence_of_[row]; }

  // Chooses the cross-attention to keep from now on: the mean of these heads of one layer. An empty
  // list means all heads; layer -1 keeps nothing.
  void watch(int layer, const std::vector<int32_t>& heads) {
    looks_.want(layer, heads, config_.heads);
  }

  bool watches() const { return looks_.layer >= 0; }

  // The attention weights of row `row` at a step, one for each token of its source.
  const float* look(int step, int row) const {
    return past_[step].looks.data() + size_t(row) * longest_;
  }

  // Computes one step of all rows, given the newest id of each. Rows are computed in chunks; after
  // each chunk use(first_row, count) is called, and the final states of these rows are in the
  // chunk's `rows`.
  template <class Use>
  void step(const int32_t* ids, const Use& use) {
    if (steps_ == config_.max_positions)
      throw std::invalid_argument("the model has positions for " +
                                  std::to_string(config_.max_positions) + " steps only");
    if (int(past_.size()) == steps_) past_.emplace_back();
    Past& now = past_[steps_];
    now.rows = rows();
    const size_t kept = model_.decoder.size() * now.rows;
    if (model_.recurrent())
      now.states.resize(kept * config_.d_model);
    else
      now.keys_values.resize(kept * 2 * model_.width());
    if (looks_.layer >= 0) now.looks.resize(size_t(now.rows) * longest_);
    for (int row = 0; row < rows(); ++row) {
      lineage_[row].resize(steps_);  // drops the entry of a step that failed
      lineage_[row].push_back(row);
    }
    for (int first = 0; first < rows(); first += kChunk) {
      const int count = std::min(kChunk, rows() - first);
      chunk_.embed(model_.target, ids + first, count, steps_, 0, chunk_.x.data());
      for (size_t l = 0; l < model_.decoder.size(); ++l) run_layer(int(l), first, count);
      chunk_.finish(model_.decoder_norm, chunk_.x.data(), count);
      use(first, count);
    }
    ++steps_;
  }

 private:
  // The results of one step that later steps need.
  struct Past {
    int rows = 0;
    Buffer<Cached> keys_values;  // [layer][row][keys, values]
    Buffer<float> states;        // of the recurrences, [layer][row][d_model]
    Buffer<float> looks;         // attention weights to report, [row][longest source]
  };

  // Computes one layer for rows [first, first + count), whose states are in the chunk's `x`.
  void run_layer(int l, int first, int count) {
    const DecoderLayer<P>& layer = model_.decoder[l];
    float* x = chunk_.x.data();
    chunk_.enter(layer.attention_norm, x, count);
    if (layer.recurrence.there) {
      recurrence(l, first, count);
      chunk_.leave(layer.attention_norm, x, count);
    } else {
      self_attention(l, first, count);
      chunk_.join(layer.o, chunk_.context.data(), layer.attention_norm, x, count);
    }
    chunk_.enter(layer.cross_norm, x, count);
    chunk_.widen(layer.cross_q, count);
    cross_attention(l, first, count);
    chunk_.join(layer.cross_o, chunk_.context.data(), layer.cross_norm, x, count);
    chunk_.feed_forward(layer.feed_forward, layer.feed_forward_norm, x, count);
  }

  // Reads the chunk's `rows` and the states of the step before; writes the chunk's `narrow`.
  void recurrence(int l, int first, int count) {
    const int d = config_.d_model;
    chunk_.widen(model_.decoder[l].recurrence.map, count);
    const auto state = [&](int step, int row) {
      return past_[step].states.data() + (size_t(l) * past_[step].rows + row) * d;
    };
    chunk_.each(count, [&](int row) {
      const float* fresh = chunk_.wide.data() + size_t(row) * chunk_.stride;
      const float* before = steps_ ? state(steps_ - 1, lineage_[first + row][steps_ - 1]) : nullptr;
      recur(fresh, fresh + d, before, state(steps_, first + row),
            chunk_.narrow.data() + size_t(row) * chunk_.narrow_stride, d);
    });
  }

  // Reads the chunk's `rows` and the keys and values of all steps so far; writes the chunk's
  // `context`.
  void self_attention(int l, int first, int count) {
    chunk_.widen(model_.decoder[l].qkv, count);
    chunk_.team.run([&](int member, int members) {
      const Share share(count, member, members);
      for (int row = share.begin; row < share.end; ++row) look_back_at(l, first, row, member);
    });
  }

  void look_back_at(int l, int first, int row, int member) {
    const int width = model_.width(), length = steps_ + 1;
    float* qkv = chunk_.wide.data() + size_t(row) * chunk_.stride;
    if (config_.rotary) {
      chunk_.turn_heads(qkv, steps_);
      chunk_.turn_heads(qkv + width, steps_);
    }
    const std::vector<int32_t>& line = lineage_[first + row];
    std::vector<const Cached*>& steps = steps_of_[member];
    steps.resize(length);
    for (int j = 0; j < length; ++j) steps[j] = kept(past_[j], l, line[j]);
    Cached* now = kept(past_[steps_], l, line[steps_]);
    for (int i = 0; i < 2 * width; ++i) store(qkv[width + i], now + i);
    float* scores = chunk_.scores[member].resize(size_t(config_.heads) * length);
    look_back(qkv, steps.data(), length, config_.heads, model_.head,
              chunk_.context.data() + size_t(row) * width, scores);
  }

  Cached* kept(Past& past, int l, int row) {
    return past.keys_values.data() + (size_t(l) * past.rows + row) * 2 * model_.width();
  }

  void cross_attention(int l, int first, int count) {
    const int32_t* sentence_of = sentence_of_.data() + first;
    if (l != looks_.layer) return memory_.attend(l, sentence_of, count, Ignore{});
    looks_.begin(count, longest_);
    memory_.attend(l, sentence_of, count,
                   [&](int begin, int rows, int head, const float* weights, int length, int stride) {
                     looks_.take(begin, rows, head, weights, length, stride);
                   });
    chunk_.each(count, [&](int row) {
      looks_.mean(row, memory_.length(sentence_of[row]),
                  past_[steps_].looks.data() + size_t(first + row) * longest_);
    });
  }

  Chunk<P>& chunk_;
  const Model<P>& model_;
  const aya_config& config_;
  SourceMemory<P> memory_;
  int sentences_ = 0, longest_ = 0;

  std::vector<int32_t> sentence_of_;           // of each row
  std::vector<std::vector<int32_t>> lineage_;  // for each row, its number at each past step
  std::vector<Past> past_;
  int steps_ = 0;
  Looks looks_;
  std::vector<std::vector<const Cached*>> steps_of_;  // look_back's `steps`, one list per thread
};
