// Vocabulary selection: the ids that each sentence of a batch may use, and an output layer that
// computes only the ids that some sentence may use.
#pragma once

#include <algorithm>
#include <vector>

#include "model.h"

template <class P>
class Selection {
 public:
  using Linear = typename P::Linear;

  // The ids of one sentence, ascending. Id ids[i] is output columns[i] of `map`.
  struct Own {
    const int32_t *ids, *columns;
    int count;
  };

  // `lists` holds each sentence's ids; null selects the whole vocabulary for all.
  void take(const Model<P>& model, const aya_lists* lists) {
    offsets_.clear();
    if (!lists) return;
    ids_.clear();
    for (int s = 0; s < lists->count; ++s) {
      offsets_.push_back(int64_t(ids_.size()));
      ids_.insert(ids_.end(), lists->ids + lists->offsets[s], lists->ids + lists->offsets[s + 1]);
      const auto begin = ids_.begin() + offsets_.back();
      if (!std::is_sorted(begin, ids_.end())) std::sort(begin, ids_.end());
      ids_.erase(std::unique(begin, ids_.end()), ids_.end());
    }
    offsets_.push_back(int64_t(ids_.size()));

    std::vector<int32_t> column(model.output.outputs, -1);  // each id's index among the chosen ids
    for (const int32_t id : ids_) column[id] = 0;
    std::vector<int32_t> chosen;
    for (size_t id = 0; id < column.size(); ++id)
      if (column[id] == 0) {
        column[id] = int32_t(chosen.size());
        chosen.push_back(int32_t(id));
      }
    columns_ = ids_;
    map_ = model.output;
    if (chosen.size() > kMost * column.size()) return;
    arena_.clear();
    map_.pick(arena_, model.output, chosen.data(), int(chosen.size()));
    for (int32_t& id : columns_) id = column[id];
  }

  bool empty() const { return offsets_.empty(); }
  const Linear& map() const { return map_; }
  Own of(int sentence) const {
    const int64_t begin = offsets_[sentence];
    return {ids_.data() + begin, columns_.data() + begin, int(offsets_[sentence + 1] - begin)};
  }

 private:
  // The share of the vocabulary above which copying the chosen part of the output layer takes longer
  // than computing the whole layer.
  static constexpr double kMost = 0.75;

  std::vector<int64_t> offsets_;        // of each sentence's ids
  std::vector<int32_t> ids_, columns_;  // of all sentences
  Arena arena_;
  Linear map_;
};
