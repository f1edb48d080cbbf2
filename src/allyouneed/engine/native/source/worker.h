// One worker: a team of threads with memory of its own that encodes a batch and decodes it step by
// step. Rows are hypotheses, those of a sentence beside each other; a row of an encoder is a token,
// sentences lying behind each other without padding.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "attention.h"
#include "best.h"
#include "model.h"

constexpr int kChunk = 128;         // rows that go through a layer together: they fit into the L2
constexpr int kLogits = 16;         // panels of logits that are looked at together

template <class P>
class Worker {
 public:
  using Cached = typename P::Cached;

  Worker(const Model<P>& model, int threads)
      : model_(model), config_(model.config), team_(threads), scores_(team_.size()),
        head_memory_(team_.size()), logits_(team_.size()), pointers_(team_.size()),
        found_(team_.size()) {
    const int hidden = config_.d_ff * (model.gated() ? 2 : 1);
    stride_ = panels_of(std::max({3 * model.width(), hidden, 2 * config_.d_model})) * kPanel;
    wide_.resize(size_t(kChunk) * stride_);
    narrow_stride_ = panels_of(config_.d_model) * kPanel;
    narrow_.resize(size_t(kChunk) * narrow_stride_);
    x_.resize(size_t(kChunk) * config_.d_model);
    context_.resize(size_t(kChunk) * model.width());
    rows_.resize(kChunk, std::max(config_.d_model, model.width()));
    inner_.resize(kChunk, config_.d_ff);
  }

  int sentences() const { return int(lengths_.size()); }
  int rows() const { return int(sentence_of_.size()); }
  int steps() const { return steps_done_; }

  // ---- the source ----------------------------------------------------------------------------

  // Encodes a batch: keys and values of every decoder layer's cross-attention, once per sentence.
  void encode(const aya_lists& sources, int sentences) {
    lengths_.clear();
    first_.clear();
    memory_at_.clear();
    size_t room = 0;
    int tokens = 0;
    for (int s = 0; s < sentences; ++s) {
      const int length = int(sources.offsets[s + 1] - sources.offsets[s]);
      if (length < 1 || length > config_.max_positions)
        throw std::invalid_argument("a source of " + std::to_string(length) +
                                    " tokens; 1 ... " + std::to_string(config_.max_positions) +
                                    " fit the model's positions");
      lengths_.push_back(length);
      first_.push_back(tokens);
      memory_at_.push_back(room);
      tokens += length;
      room += round_up(length, kPanel) * 2 * model_.width();
    }
    states_.resize(size_t(tokens) * config_.d_model);
    embed_sources(sources);
    if (!model_.encoder.empty()) {
      qkv_.resize(size_t(tokens) * 3 * model_.width());
      attended_.resize(size_t(tokens) * model_.width());
    }
    for (const EncoderLayer<P>& layer : model_.encoder) encoder_layer(layer, tokens);
    remember(room, tokens);
    start(1);
  }

  // ---- the target ----------------------------------------------------------------------------

  // Every sentence gets `count` rows and forgets its steps.
  void start(int count) {
    sentence_of_.clear();
    for (int s = 0; s < sentences(); ++s) sentence_of_.insert(sentence_of_.end(), count, s);
    lineage_.assign(sentence_of_.size(), {});
    steps_done_ = 0;
  }

  // Row r goes on from what row parents[r] was; other rows are gone. Nothing is copied but the
  // numbers that say where a row's past lies.
  void select(const std::vector<int32_t>& parents) {
    std::vector<int32_t> sentence_of;
    std::vector<std::vector<int32_t>> lineage;
    sentence_of.reserve(parents.size());
    lineage.reserve(parents.size());
    for (const int32_t parent : parents) {
      sentence_of.push_back(sentence_of_[parent]);
      lineage.push_back(lineage_[parent]);
    }
    sentence_of_.swap(sentence_of);
    lineage_.swap(lineage);
  }

  int sentence_of(int row) const { return sentence_of_[row]; }

  // Forgets the steps behind the first so many.
  void rewind(int steps) {
    steps_done_ = steps;
    for (std::vector<int32_t>& line : lineage_) line.resize(steps);
  }

  // One step of all rows, given their newest ids; `use(first_row, rows)` is called with the final
  // states of some rows in `rows_`, for `best` or `all_logits`.
  template <class Use>
  void step(const int32_t* ids, const Use& use) {
    if (steps_done_ == config_.max_positions)
      throw std::invalid_argument("no more than " + std::to_string(config_.max_positions) +
                                  " steps fit the model's positions");
    const size_t width = 2 * size_t(model_.width());
    if (int(past_.size()) == steps_done_) past_.emplace_back();
    Past& now = past_[steps_done_];
    now.rows = rows();
    if (model_.recurrent())
      now.states.resize(model_.decoder.size() * now.rows * config_.d_model);
    else
      now.keys_values.resize(model_.decoder.size() * now.rows * width);
    for (int row = 0; row < rows(); ++row) {
      lineage_[row].resize(steps_done_);  // what a step that was refused has left goes
      lineage_[row].push_back(row);
    }
    for (int first = 0; first < rows(); first += kChunk) {
      const int count = std::min(kChunk, rows() - first);
      embed(model_.target, config_.vocabulary, ids + first, count, steps_done_, 0, x_.data());
      for (size_t l = 0; l < model_.decoder.size(); ++l) decoder_layer(int(l), first, count);
      each(count, [&](int row) {
        float* x = x_.data() + size_t(row) * config_.d_model;
        model_.decoder_norm(x, x, config_.d_model);
        rows_.set(row, x, config_.d_model);
      });
      use(first, count);
    }
    ++steps_done_;
  }

  // The best tokens of each of `count` rows of the chunk, best[row] having been cleared for it.
  // `output` maps states to logits of ids[0..), or of all ids where `ids` is null; `mask`, if there
  // is one, is added to a row's logits.
  template <class MaskOf>
  void best(const typename P::Linear& output, const int32_t* ids, int count, Best* best,
            const Banned* banned, const MaskOf& mask_of) {
    const int panels = panels_of(output.outputs), groups = (panels + kLogits - 1) / kLogits;
    team_.run([&](int member, int members) {
      const Share share(groups, member, members);
      std::vector<Best>& found = found_[member];
      Best* into = best;
      if (member) {  // the others bring what they find to the first
        found.resize(kChunk);
        for (int row = 0; row < count; ++row)
          found[row].clear(int(best[row].logits.size()), best[row].watched_id);
        into = found.data();
      }
      constexpr int stride = kLogits * kPanel;
      float* logits = logits_[member].resize(size_t(kChunk) * stride);
      for (int group = share.begin; group < share.end; ++group) {
        const int first = group * kLogits, last = std::min(first + kLogits, panels);
        output.multiply(rows_, count, first, last, logits - first * kPanel, stride);
        const int n = std::min(output.outputs, last * kPanel) - first * kPanel;
        for (int row = 0; row < count; ++row) {
          float* x = logits + size_t(row) * stride;
          if (const float* mask = mask_of(row)) add(x, mask + first * kPanel, n);
          into[row].pass(x, n, first * kPanel, ids ? ids + first * kPanel : nullptr, banned[row]);
        }
      }
    });
    for (int member = 1; member < team_.size(); ++member)
      for (int row = 0; row < count; ++row) best[row].merge(found_[member][row], banned[row]);
  }

  // What row 0 of the chunk most probably goes on with: the id of the largest logit among those
  // that `margin` standard deviations of a rough logit's error make possible; -1: there is none.
  int32_t likeliest(const Screen& screen, float margin, const Banned& banned) {
    const int panels = panels_of(config_.vocabulary);
    struct Found {
      float logit = kNever;
      int32_t id = -1;
    };
    std::vector<Found> found(team_.size());
    team_.run([&](int member, int members) {
      const Share share(panels, member, members);
      if (share.begin == share.end) return;
      const int first = share.begin * kPanel;
      const int n = std::min(config_.vocabulary, share.end * kPanel) - first;
      float* bound = logits_[member].resize(size_t(share.end - share.begin) * kPanel);
      screen.bounds(rows_, share.begin, share.end, margin, bound);
      for (const int32_t id : banned)
        if (id >= first && id < first + n) bound[id - first] = kNever;
      Found& best = found[member];
      const auto look_at = [&](int i) {
        const float logit = screen.exact(rows_, first + i);
        if (logit > best.logit) best = {logit, first + i};
        bound[i] = kNever;
      };
      const float top = largest(bound, n);
      if (!(top > kNever)) return;
      look_at(int(std::find(bound, bound + n, top) - bound));
      for (int from = 0; from < n; from += kPanel) {
        const int to = std::min(from + kPanel, n);
        if (largest(bound + from, to - from) > best.logit)
          for (int i = from; i < to; ++i)
            if (bound[i] > best.logit) look_at(i);
      }
    });
    return std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) {
             return a.logit < b.logit;
           })->id;
  }

  // The final state of a row of the chunk, and its way back: `best` looks at rows that are set.
  const float* state(int row) const { return x_.data() + size_t(row) * config_.d_model; }
  void set_state(int row, const float* state) { rows_.set(row, state, config_.d_model); }

  // Logits [row][V] of the chunk's rows.
  void all_logits(int count, float* logits) {
    const int panels = panels_of(config_.vocabulary);
    Buffer<float>& padded = logits_[0];
    padded.resize(size_t(count) * panels * kPanel);
    apply(team_, model_.output, rows_, count, padded.data(), panels * kPanel);
    for (int row = 0; row < count; ++row)
      std::memcpy(logits + size_t(row) * config_.vocabulary,
                  padded.data() + size_t(row) * panels * kPanel,
                  config_.vocabulary * sizeof(float));
  }

 private:
  // What is kept of one step: [layer][row][keys, values], or a recurrence's [layer][row][state].
  struct Past {
    int rows = 0;
    Buffer<Cached> keys_values;
    Buffer<float> states;
  };

  // work(row) for all rows, shared out where that is worth waking the others.
  template <class Work>
  void each(int rows, const Work& work) {
    if (team_.size() == 1 || rows < 4) {
      for (int row = 0; row < rows; ++row) work(row);
    } else {
      team_.run([&](int member, int members) {
        const Share share(rows, member, members);
        for (int row = share.begin; row < share.end; ++row) work(row);
      });
    }
  }

  // √d · token + position (sections 3.4, 3.5) for `count` ids, the first at position `first` and
  // each next one `apart` further on.
  void embed(const Embeddings& embeddings, int vocabulary, const int32_t* ids, int count, int first,
             int apart, float* x) {
    const int d = config_.d_model;
    for (int row = 0; row < count; ++row, x += d) {
      if (ids[row] < 0 || ids[row] >= vocabulary)
        throw std::invalid_argument("id " + std::to_string(ids[row]) + " is none of a vocabulary of " +
                                    std::to_string(vocabulary));
      const float* token = embeddings.tokens + size_t(ids[row]) * d;
      for (int i = 0; i < d; ++i) x[i] = token[i] * config_.embedding_scale;
      if (embeddings.positions) add(x, embeddings.positions + size_t(first + row * apart) * d, d);
      embeddings.norm(x, x, d);
    }
  }

  void embed_sources(const aya_lists& sources) {
    for (int s = 0; s < sentences(); ++s)
      embed(model_.source, config_.source_vocabulary, sources.ids + sources.offsets[s], lengths_[s],
            0, 1, states_.data() + size_t(first_[s]) * config_.d_model);
  }

  // A sub-layer's input: x, normalised first where the model is pre-norm.
  void enter(const Norm& norm, const float* x, int count) {
    const int d = config_.d_model;
    each(count, [&](int row) {
      if (config_.pre_norm) {
        float* y = narrow_.data() + size_t(row) * narrow_stride_;
        norm(x + size_t(row) * d, y, d);
        rows_.set(row, y, d);
      } else {
        rows_.set(row, x + size_t(row) * d, d);
      }
    });
  }

  // The residual connection: x + y, normalised where the model is post-norm.
  void leave(const Norm& norm, float* x, int count) {
    const int d = config_.d_model;
    each(count, [&](int row) {
      float* into = x + size_t(row) * d;
      add(into, narrow_.data() + size_t(row) * narrow_stride_, d);
      if (!config_.pre_norm) norm(into, into, d);
    });
  }

  // W_O over heads' results, back into x.
  void join(const typename P::Linear& o, const float* heads, const Norm& norm, float* x, int count) {
    const int width = model_.width();
    each(count, [&](int row) { rows_.set(row, heads + size_t(row) * width, width); });
    apply(team_, o, rows_, count, narrow_.data(), narrow_stride_);
    leave(norm, x, count);
  }

  void feed_forward(const FeedForward<P>& map, const Norm& norm, float* x, int count) {
    enter(norm, x, count);
    apply(team_, map.first, rows_, count, wide_.data(), stride_);
    each(count, [&](int row) {
      float* hidden = wide_.data() + size_t(row) * stride_;
      activate(Activation(config_.activation), hidden, config_.d_ff);
      inner_.set(row, hidden, config_.d_ff);
    });
    apply(team_, map.second, inner_, count, narrow_.data(), narrow_stride_);
    leave(norm, x, count);
  }

  void turn_heads(float* heads, int position) const {
    const int pairs = config_.head_width / 2;
    const float* cosines = model_.cosines.data() + size_t(position) * pairs;
    const float* sines = model_.sines.data() + size_t(position) * pairs;
    for (int h = 0; h < config_.heads; ++h, heads += model_.head) turn(heads, cosines, sines, pairs);
  }

  void encoder_layer(const EncoderLayer<P>& layer, int tokens) {
    const int width = model_.width(), d = config_.d_model;
    for (int first = 0; first < tokens; first += kChunk) {
      const int count = std::min(kChunk, tokens - first);
      enter(layer.attention_norm, states_.data() + size_t(first) * d, count);
      apply(team_, layer.qkv, rows_, count, qkv_.data() + size_t(first) * 3 * width, 3 * width);
    }
    if (config_.rotary)
      for (int s = 0; s < sentences(); ++s)
        for (int t = 0; t < lengths_[s]; ++t) {
          float* row = qkv_.data() + size_t(first_[s] + t) * 3 * width;
          turn_heads(row, t);
          turn_heads(row + width, t);
        }
    team_.run([&](int member, int members) {
      const Share share(sentences() * config_.heads, member, members);
      for (int i = share.begin; i < share.end; ++i)
        look_around(i / config_.heads, i % config_.heads, member);
    });
    for (int first = 0; first < tokens; first += kChunk) {
      const int count = std::min(kChunk, tokens - first);
      float* x = states_.data() + size_t(first) * d;
      join(layer.o, attended_.data() + size_t(first) * width, layer.attention_norm, x, count);
      feed_forward(layer.feed_forward, layer.feed_forward_norm, x, count);
    }
  }

  // One head of a sentence's self-attention.
  void look_around(int s, int h, int member) {
    const int width = model_.width(), length = lengths_[s], room = int(round_up(length, kPanel));
    Buffer<float>& memory = head_memory_[member];
    memory.resize(size_t(2) * room * model_.head);
    const HeadMemory<float> head{memory.data(), memory.data() + size_t(room) * model_.head, length,
                                 model_.head};
    const float* q = qkv_.data() + size_t(first_[s]) * 3 * width + h * model_.head;
    for (int t = 0; t < length; ++t) {
      const float* row = q + size_t(t) * 3 * width;
      head.set(t, row + width, row + 2 * width);
    }
    head.fill_up();
    constexpr int kQueries = 32;  // at a time
    float* scores = scores_[member].resize(size_t(kQueries) * room);
    float* out = attended_.data() + size_t(first_[s]) * width + h * model_.head;
    for (int t = 0; t < length; t += kQueries)
      head.attend(q + size_t(t) * 3 * width, 3 * width, std::min(kQueries, length - t),
                  out + size_t(t) * width, width, scores);
  }

  // The memory's keys and values for every decoder layer, in panels.
  void remember(size_t room, int tokens) {
    const int width = model_.width(), d = config_.d_model;
    memory_room_ = room;
    memory_.resize(room * std::max<size_t>(model_.memory.size(), 1));
    for (int first = 0; first < tokens; first += kChunk) {
      const int count = std::min(kChunk, tokens - first);
      each(count, [&](int row) {
        float* x = states_.data() + size_t(first + row) * d;
        model_.encoder_norm(x, x, d);
        rows_.set(row, x, d);
      });
      for (size_t l = 0; l < model_.memory.size(); ++l) {
        apply(team_, model_.memory[l], rows_, count, wide_.data(), stride_);
        int s = int(std::upper_bound(first_.begin(), first_.end(), first) - first_.begin()) - 1;
        for (int row = 0; row < count; ++row) {
          while (first + row >= first_[s] + lengths_[s]) ++s;
          const float* keys = wide_.data() + size_t(row) * stride_;
          for (int h = 0; h < config_.heads; ++h)
            memory_of(int(l), s, h).set(first + row - first_[s], keys + h * model_.head,
                                        keys + width + h * model_.head);
        }
      }
    }
    for (size_t l = 0; l < model_.memory.size(); ++l)
      for (int s = 0; s < sentences(); ++s)
        for (int h = 0; h < config_.heads; ++h) memory_of(int(l), s, h).fill_up();
  }

  HeadMemory<Cached> memory_of(int layer, int s, int h) {
    const size_t room = round_up(lengths_[s], kPanel), head = model_.head;
    Cached* keys = memory_.data() + layer * memory_room_ + memory_at_[s] + h * room * head;
    return {keys, keys + room * model_.width(), lengths_[s], model_.head};
  }

  // One layer for rows [first, first + count), whose states are x_.
  void decoder_layer(int l, int first, int count) {
    const DecoderLayer<P>& layer = model_.decoder[l];
    const int width = model_.width();
    if (layer.recurrence.there)
      go_on(l, first, count);
    else
      look_at_past(l, first, count);
    enter(layer.cross_norm, x_.data(), count);
    apply(team_, layer.cross_q, rows_, count, wide_.data(), stride_);
    look_at_source(l, first, count, width);
    join(layer.cross_o, context_.data(), layer.cross_norm, x_.data(), count);
    feed_forward(layer.feed_forward, layer.feed_forward_norm, x_.data(), count);
  }

  void look_at_past(int l, int first, int count) {
    const DecoderLayer<P>& layer = model_.decoder[l];
    enter(layer.attention_norm, x_.data(), count);
    apply(team_, layer.qkv, rows_, count, wide_.data(), stride_);
    team_.run([&](int member, int members) {
      const Share share(count, member, members);
      for (int row = share.begin; row < share.end; ++row) look_back_at(l, first, row, member);
    });
    join(layer.o, context_.data(), layer.attention_norm, x_.data(), count);
  }

  // The recurrence in place of it. Rows find the state before by their lineage.
  void go_on(int l, int first, int count) {
    const DecoderLayer<P>& layer = model_.decoder[l];
    const int d = config_.d_model, step = steps_done_;
    enter(layer.attention_norm, x_.data(), count);
    apply(team_, layer.recurrence.map, rows_, count, wide_.data(), stride_);
    const auto state = [&](int step, int row) {
      return past_[step].states.data() + (size_t(l) * past_[step].rows + row) * d;
    };
    each(count, [&](int row) {
      const float* fresh = wide_.data() + size_t(row) * stride_;
      const float* before = step ? state(step - 1, lineage_[first + row][step - 1]) : nullptr;
      recur(fresh, fresh + d, before, state(step, first + row),
            narrow_.data() + size_t(row) * narrow_stride_, d);
    });
    leave(layer.attention_norm, x_.data(), count);
  }

  void look_back_at(int l, int first, int row, int member) {
    const int width = model_.width(), length = steps_done_ + 1;
    float* qkv = wide_.data() + size_t(row) * stride_;
    if (config_.rotary) {
      turn_heads(qkv, steps_done_);
      turn_heads(qkv + width, steps_done_);
    }
    const std::vector<int32_t>& line = lineage_[first + row];
    std::vector<const Cached*>& steps = pointers_[member];
    steps.resize(length);
    for (int j = 0; j < length; ++j)
      steps[j] = past_[j].keys_values.data() + (size_t(l) * past_[j].rows + line[j]) * 2 * width;
    Cached* now = const_cast<Cached*>(steps[steps_done_]);
    for (int i = 0; i < 2 * width; ++i) store(qkv[width + i], now + i);
    float* scores = scores_[member].resize(size_t(config_.heads) * length);
    look_back(qkv, steps.data(), length, config_.heads, model_.head,
              context_.data() + size_t(row) * width, scores);
  }

  // Cross-attention: the rows of a sentence look at its memory together.
  void look_at_source(int l, int first, int count, int width) {
    spans_.clear();
    for (int row = 0; row < count;) {
      int end = row + 1;
      while (end < count && sentence_of_[first + end] == sentence_of_[first + row]) ++end;
      spans_.push_back({row, end});
      row = end;
    }
    team_.run([&](int member, int members) {
      const Share share(int(spans_.size()) * config_.heads, member, members);
      for (int i = share.begin; i < share.end; ++i) {
        const Span span = spans_[i / config_.heads];
        const int h = i % config_.heads, rows = span.end - span.begin;
        const HeadMemory<Cached> head = memory_of(l, sentence_of_[first + span.begin], h);
        float* scores = scores_[member].resize(size_t(rows) * head.room());
        head.attend(wide_.data() + size_t(span.begin) * stride_ + h * model_.head, stride_, rows,
                    context_.data() + size_t(span.begin) * width + h * model_.head, width, scores);
      }
    });
  }

  struct Span {
    int begin, end;
  };

  const Model<P>& model_;
  const aya_config& config_;
  Team team_;

  // Of the batch: lengths, first tokens, and where in `memory_` each sentence lies.
  std::vector<int> lengths_, first_;
  std::vector<size_t> memory_at_;
  size_t memory_room_ = 0;  // of one layer
  Buffer<Cached> memory_;
  Buffer<float> states_, qkv_, attended_;

  // Of the rows: their sentences, and which row of each past step they come from.
  std::vector<int32_t> sentence_of_;
  std::vector<std::vector<int32_t>> lineage_;
  std::vector<Past> past_;
  int steps_done_ = 0;

  // For work on one chunk.
  int stride_, narrow_stride_;
  Buffer<float> wide_, narrow_, x_, context_;
  typename P::Rows rows_, inner_;
  std::vector<Span> spans_;
  std::vector<Buffer<float>> scores_, head_memory_, logits_;  // one for each member of the team
  std::vector<std::vector<const Cached*>> pointers_;
  std::vector<std::vector<Best>> found_;
};
