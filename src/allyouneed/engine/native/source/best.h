// Finds the best next tokens of one hypothesis, and Σ exp(logit), which turns logits into
// probabilities. The logits come in pieces, so a whole row of them is never in memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "rows.h"

constexpr float kNever = -std::numeric_limits<float>::infinity();

// The tokens that must not come next. They are few, so a linear search finds them fast enough.
using Banned = std::vector<int32_t>;

struct Best {
  // Starts a new row and keeps its `room` best tokens. The logit of the id `watched` is kept too,
  // however small it is.
  void clear(int room, int32_t watched, std::vector<int32_t> wanted_ids = {}) {
    wanted = std::move(wanted_ids);
    wanted_logits.assign(wanted.size(), kNever);
    logits.resize(room);
    ids.resize(room);
    count = 0;
    most = kNever;
    sum = 0.0f;
    watched_id = watched;
    watched_logit = kNever;
  }

  // Takes in n more logits x[0..n). They belong to the ids `first`, `first` + 1, ..., or to
  // names[0..n) where `names` is not null. The names are ascending.
  void pass(const float* x, int n, int32_t first, const int32_t* names, const Banned& banned) {
    const float top = largest(x, n);
    if (top > most) {
      sum *= exponential(most - top);
      most = top;
    }
    const bool masked = top == kNever;  // all n logits are masked
    if (!masked && !(top < most - kNegligible)) sum += sum_of_exponentials(x, n, most);
    const auto place_of = [&](int32_t id) {
      const int place = names ? int(std::lower_bound(names, names + n, id) - names) : id - first;
      return place >= 0 && place < n && (!names || names[place] == id) ? place : -1;
    };
    if (const int place = place_of(watched_id); place >= 0) watched_logit = x[place];
    for (size_t i = 0; i < wanted.size(); ++i)
      if (const int place = place_of(wanted[i]); place >= 0) wanted_logits[i] = x[place];
    if (!(top > threshold())) return;
    for (int from = 0; from < n; from += kGroup) {
      const int to = from + kGroup < n ? from + kGroup : n;
      if (!(largest(x + from, to - from) > threshold())) continue;
      for (int i = from; i < to; ++i)
        if (x[i] > threshold()) keep(x[i], names ? names[i] : first + i, banned);
    }
  }

  // Takes in the result of another thread, which has searched other ids.
  void merge(const Best& other, const Banned& banned) {
    if (other.most > most) {
      sum = sum * exponential(most - other.most) + other.sum;
      most = other.most;
    } else if (other.sum != 0.0f) {
      sum += other.sum * exponential(other.most - most);
    }
    if (other.watched_logit > kNever) watched_logit = other.watched_logit;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (other.wanted_logits[i] > kNever) wanted_logits[i] = other.wanted_logits[i];
    for (int i = 0; i < other.count; ++i)
      if (other.logits[i] > threshold()) keep(other.logits[i], other.ids[i], banned);
  }

  float log_sum() const { return most + std::log(sum); }

  std::vector<float> logits;  // best first
  std::vector<int32_t> ids;
  int count = 0;
  float most = kNever, sum = 0.0f;  // Σ exp(logit) = sum · exp(most)
  int32_t watched_id = -1;
  float watched_logit = kNever;
  std::vector<int32_t> wanted;  // ids whose logits are wanted, too
  std::vector<float> wanted_logits;

 private:
  static constexpr int kGroup = 32;
  static constexpr float kNegligible = 30.0f;  // 32,000 · e⁻³⁰ vanishes beside 1 in float32

  float threshold() const {
    return count < int(logits.size()) ? kNever : logits[logits.size() - 1];
  }
  void keep(float logit, int32_t id, const Banned& banned) {
    for (const int32_t not_this : banned)
      if (id == not_this) return;
    const int last = count < int(logits.size()) ? count++ : count - 1;
    const int place = int(std::upper_bound(logits.begin(), logits.begin() + last, logit,
                                           std::greater<float>()) - logits.begin());
    std::move_backward(logits.begin() + place, logits.begin() + last, logits.begin() + last + 1);
    std::move_backward(ids.begin() + place, ids.begin() + last, ids.begin() + last + 1);
    logits[place] = logit;
    ids[place] = id;
  }
};
