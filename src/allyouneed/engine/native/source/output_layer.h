// The output layer: the best next tokens of the chunk's rows, or all their logits.
#pragma once

#include "best.h"
#include "chunk.h"

constexpr int kLogits = 16;  // panels whose logits are computed and searched together

template <class P>
class OutputLayer {
 public:
  explicit OutputLayer(Chunk<P>& chunk)
      : chunk_(chunk), config_(chunk.config), logits_(chunk.team.size()),
        found_(chunk.team.size()) {}

  // Finds the best tokens of `count` rows of the chunk. The caller has cleared best[row]. The
  // outputs of `map` are the logits of ids[0], ids[1], ..., or of all ids where `ids` is null.
  // mask_of(row) is added to a row's logits, unless it is null.
  template <class MaskOf>
  void best(const typename P::Linear& map, const int32_t* ids, int count, Best* best,
            const Banned* banned, const MaskOf& mask_of) {
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
      constexpr int stride = kLogits * kPanel;
      float* logits = logits_[member].resize(size_t(kChunk) * stride);
      for (int group = share.begin; group < share.end; ++group) {
        const int first = group * kLogits, last = std::min(first + kLogits, panels);
        map.multiply(chunk_.rows, count, first, last, logits, stride);
        const int n = std::min(map.outputs, last * kPanel) - first * kPanel;
        for (int row = 0; row < count; ++row) {
          float* x = logits + size_t(row) * stride;
          if (const float* mask = mask_of(row)) add(x, mask + first * kPanel, n);
          into[row].pass(x, n, first * kPanel, ids ? ids + first * kPanel : nullptr, banned[row]);
        }
      }
    });
    for (int member = 1; member < chunk_.team.size(); ++member)
      for (int row = 0; row < count; ++row) best[row].merge(found_[member][row], banned[row]);
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

  // Writes all logits [row][map.outputs] of `count` rows of the chunk.
  void all(const typename P::Linear& map, int count, float* logits) {
    const int stride = panels_of(map.outputs) * kPanel;
    float* padded = logits_[0].resize(size_t(count) * stride);
    apply(chunk_.team, map, chunk_.rows, count, padded, stride);
    for (int row = 0; row < count; ++row)
      std::memcpy(logits + size_t(row) * map.outputs, padded + size_t(row) * stride,
                  map.outputs * sizeof(float));
  }

 private:
  Chunk<P>& chunk_;
  const aya_config& config_;
  std::vector<Buffer<float>> logits_;  // one buffer for each thread
  std::vector<std::vector<Best>> found_;
};
