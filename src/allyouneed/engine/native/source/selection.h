// Vocabulary selection: an output layer that computes only the ids that some sentence of the batch
// may use, and for each sentence a mask that excludes the ids of the other sentences.
#pragma once

#include <vector>

#include "best.h"
#include "model.h"

template <class P>
class Selection {
 public:
  using Linear = typename P::Linear;

  // `lists` holds each sentence's ids; null selects the whole vocabulary for all.
  void take(const Model<P>& model, const aya_lists* lists) {
    chosen_.clear();
    if (!lists) return;
    std::vector<int32_t> column(model.output.outputs, -1);  // each id's index among the chosen ids
    for (int64_t i = 0; i < lists->size; ++i) column[lists->ids[i]] = 0;
    for (size_t id = 0; id < column.size(); ++id)
      if (column[id] == 0) {
        column[id] = int32_t(chosen_.size());
        chosen_.push_back(int32_t(id));
      }
    arena_.clear();
    map_.pick(arena_, model.output, chosen_.data(), int(chosen_.size()));
    masks_.assign(lists->count * chosen_.size(), kNever);
    for (int s = 0; s < lists->count; ++s)
      for (int64_t i = lists->offsets[s]; i < lists->offsets[s + 1]; ++i)
        masks_[s * chosen_.size() + column[lists->ids[i]]] = 0.0f;
  }

  const Linear& map(const Model<P>& model) const { return chosen_.empty() ? model.output : map_; }
  // The id of each of the map's outputs, or null where output v is id v.
  const int32_t* ids() const { return chosen_.empty() ? nullptr : chosen_.data(); }
  // The mask to add to a sentence's logits, or null.
  const float* mask(int sentence) const {
    return chosen_.empty() ? nullptr : masks_.data() + size_t(sentence) * chosen_.size();
  }

 private:
  std::vector<int32_t> chosen_;  // ascending
  Arena arena_;
  Linear map_;
  std::vector<float> masks_;  // [sentence][chosen]: 0 or minus infinity
};
