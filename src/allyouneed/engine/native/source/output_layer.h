// The output layer: the best next tokens of the chunk's rows, or all their logits.
#pragma once

#include "best.h"
#include "chunk.h"
#include "selection.h"

constexpr int kLogits = 16;  // panels whose logits are computed and searched together
constexpr int kStride = kLogits * kPanel;  // logits of one row

template <class P>
class OutputLayer {
 public:
  explicit OutputLayer(Chunk<P>& chunk)
      : chunk_(chunk), config_(chunk.config), logits_(chunk.team.size()),
        found_(chunk.team.size()) {}

  // Finds the best tokens of `count` rows of the chunk. The caller has cleared best[row].
  void best(int count, Best* best, const Banned* banned) {
    const typename P::Linear& map = chunk_.model.output;
    const int panels = panels_of(map.outputs), groups = (panels + kLogits - 1) / kLogits;
    chunk_.team.run([&](int member, int members) {
      const Share share(groups, member, members);
      std::vector<Best>& found = found_[member];
      Best* into = best;
      if (member) {  // the first member merges what the others find
        found.resize(kChunk);
        for (int row = 0; row < count; ++row)
          found[row].clear(int(best[row].logits.size()), best[row].watched_id, best[row].wanted);
        into = found.data();
      }
      for (int group = share.begin; group < share.end; ++group) {
        const int first = group * kStride;
        const float* logits = of_group(map, group, count, member);
        const int n = std::min(map.outputs - first, kStride);
        for (int row = 0; row < count; ++row)
          into[row].pass(logits + size_t(row) * kStride, n, first, nullptr, banned[row]);
      }
    });
    for (int member = 1; member < chunk_.team.size(); ++member)
      for (int row = 0; row < count; ++row) best[row].merge(found_[member][row], banned[row]);
  }

  // The same within a selection. Row r is a hypothesis of sentence sentence_of(r).
  template <class SentenceOf>
  void best(const Selection<P>& selection, const SentenceOf& sentence_of, int count, Best* best,
            const Banned* banned) {
    if (selection.empty()) return this->best(count, best, banned);
    pick(selection, sentence_of, count);
    chunk_.each(count, [&](int row) {
      const auto own = selection.of(sentence_of(row));
      best[row].pass(picked(row), own.count, 0, own.ids, banned[row]);
    });
  }

  // The most probable next id of the chunk's row 0, or -1 if all are banned. Exact logits are
  // computed only for ids whose upper bound (rough logit plus `margin` standard deviations) exceeds
  // the best exact logit so far.
  int32_t likeliest(const Screen& screen, float margin, const Banned& banned) {
    const int panels = panels_of(config_.vocabulary);
    struct Found {
      float logit = kNever;
      int32_t id = -1;
    };
    std::vector<Found> found(chunk_.team.size());
    chunk_.team.run([&](int member, int members) {
      const Share share(panels, member, members);
      if (share.begin == share.end) return;
      const int first = share.begin * kPanel;
      const int n = std::min(config_.vocabulary, share.end * kPanel) - first;
      float* bound = logits_[member].resize(size_t(share.end - share.begin) * kPanel);
      screen.bounds(chunk_.rows, share.begin, share.end, margin, bound);
      for (const int32_t id : banned)
        if (id >= first && id < first + n) bound[id - first] = kNever;
      Found& best = found[member];
      const auto look_at = [&](int i) {
        const float logit = screen.exact(chunk_.rows, first + i);
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

  // Writes all logits [row][vocabulary] of `count` rows of the chunk.
  void all(int count, float* logits) {
    const typename P::Linear& map = chunk_.model.output;
    const int stride = panels_of(map.outputs) * kPanel;
    float* padded = logits_[0].resize(size_t(count) * stride);
    apply(chunk_.team, map, chunk_.rows, count, padded, stride);
    for (int row = 0; row < count; ++row)
      std::memcpy(logits + size_t(row) * map.outputs, padded + size_t(row) * stride,
                  map.outputs * sizeof(float));
  }

  // Calls use(row, logits, ids, n) for each row with the logits of the n ids that its sentence may
  // use; `ids` is null where these are all. `use` may change the logits.
  template <class SentenceOf, class Use>
  void all(const Selection<P>& selection, const SentenceOf& sentence_of, int count, const Use& use) {
    const typename P::Linear& map = chunk_.model.output;
    if (selection.empty()) {
      picked_stride_ = panels_of(map.outputs) * kPanel;
      picked_.resize(size_t(count) * picked_stride_);
      apply(chunk_.team, map, chunk_.rows, count, picked_.data(), picked_stride_);
      return chunk_.each(count, [&](int row) { use(row, picked(row), nullptr, map.outputs); });
    }
    pick(selection, sentence_of, count);
    chunk_.each(count, [&](int row) {
      const auto own = selection.of(sentence_of(row));
      use(row, picked(row), own.ids, own.count);
    });
  }

 private:
  // Computes the logits of `count` rows of the chunk for the ids of each row's own sentence, as
  // `picked`. They do not depend on the other sentences of the batch.
  template <class SentenceOf>
  void pick(const Selection<P>& selection, const SentenceOf& sentence_of, int count) {
    const typename P::Linear& map = selection.map();
    picked_stride_ = 0;
    for (int row = 0; row < count; ++row)
      picked_stride_ = std::max(picked_stride_, selection.of(sentence_of(row)).count);
    picked_.resize(size_t(count) * picked_stride_);
    const int panels = panels_of(map.outputs), groups = (panels + kLogits - 1) / kLogits;
    chunk_.team.run([&](int member, int members) {
      const Share share(groups, member, members);
      int next[kChunk];  // of each row's ids, the first one that is not picked yet
      for (int row = 0; row < count; ++row) {
        const auto own = selection.of(sentence_of(row));
        const int32_t* end = own.columns + own.count;
        next[row] = int(std::lower_bound(own.columns, end, share.begin * kStride) - own.columns);
      }
      for (int group = share.begin; group < share.end; ++group) {
        const int first = group * kStride;
        const float* logits = of_group(map, group, count, member);
        for (int row = 0; row < count; ++row) {
          const auto own = selection.of(sentence_of(row));
          const float* from = logits + size_t(row) * kStride;
          float* to = picked(row);
          const int32_t* end = own.columns + own.count;
          const int last =
              int(std::lower_bound(own.columns + next[row], end, first + kStride) - own.columns);
          for (int i = next[row]; i < last; ++i) to[i] = from[own.columns[i] - first];
          next[row] = last;
        }
      }
    });
  }

  float* picked(int row) { return picked_.data() + size_t(row) * picked_stride_; }

  // The logits [row][kStride] of a group of panels.
  const float* of_group(const typename P::Linear& map, int group, int count, int member) {
    float* logits = logits_[member].resize(size_t(kChunk) * kStride);
    const int first = group * kLogits, last = std::min(first + kLogits, panels_of(map.outputs));
    map.multiply(chunk_.rows, count, first, last, logits, kStride);
    return logits;
  }

  Chunk<P>& chunk_;
  const aya_config& config_;
  std::vector<Buffer<float>> logits_;  // one buffer for each thread
  Buffer<float> picked_;               // [row][picked_stride_]
  int picked_stride_ = 0;
  std::vector<std::vector<Best>> found_;
};
