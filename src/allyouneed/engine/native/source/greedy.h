// Greedy search for one sentence: beam search with one hypothesis, but the output layer, the widest
// of all, is read in full once in many steps.
//
// A step takes the token that a rough copy of the layer lets through (screen.h). The exact logits of
// many steps are computed together afterwards, for the log-probabilities; where they tell of another
// token, the search goes back there and on with that one. So the result is that of search.h.
#pragma once

#include <vector>

#include "rules.h"
#include "worker.h"

class Greedy {
 public:
  // `stop_exact` may go on behind the first end.
  static bool serves(int sentences, const aya_options& options, const aya_lists* selection) {
    return sentences == 1 && options.beam == 1 && !options.stop_exact && !selection;
  }

  Greedy(Worker<Int8>& worker, const Model<Int8>& model, const aya_options& options)
      : worker_(worker), model_(model), options_(options) {}

  void run(const aya_lists& source, int limit, const aya_lists* prefix, aya_found& found) {
    worker_.encode(source, 1);
    const Rules rules(model_.config, options_, source.ids + source.offsets[0],
                      int(source.offsets[1] - source.offsets[0]), prefix, 0);
    Interruption interruption(options_.interrupted);
    for (;;) {
      interruption.check();
      const bool done = length() == limit || (length() && h_.ids.back() == model_.config.end);
      if (done || length() - verified() == kTogether) {
        if (!verify(rules)) continue;
        if (done) break;
      }
      step(rules);
    }
    h_.report(h_.score(options_.penalties[length()]), 0, found);
  }

 private:
  int length() const { return int(h_.ids.size()); }
  int verified() const { return int(h_.log_p.size()); }

  void step(const Rules& rules) {
    const int32_t newest = length() ? h_.ids.back() : model_.config.start;
    Banned& banned = banned_.emplace_back();
    int32_t next = rules.next(h_.ids, banned);
    worker_.step(&newest, [&](int, int) {
      const float* state = worker_.state(0);
      states_.insert(states_.end(), state, state + model_.config.d_model);
      if (!rules.forced(h_.ids.size())) next = worker_.likeliest(model_.screen, margin_, banned);
    });
    h_.ids.push_back(next < 0 ? model_.config.end : next);
  }

  // Whether the steps that were not verified yet took the right tokens. If not, the hypothesis ends
  // with the first that was wrong, put right.
  bool verify(const Rules& rules) {
    const int first = verified(), count = length() - first;
    std::vector<Best> best(count);
    for (int i = 0; i < count; ++i) {
      worker_.set_state(i, states_.data() + size_t(i) * model_.config.d_model);
      const bool forced = rules.forced(first + i);
      best[i].clear(2, forced ? h_.ids[first + i] : model_.config.end);
    }
    worker_.best(model_.output, nullptr, count, best.data(), banned_.data(),
                 [](int) { return nullptr; });
    bool all_right = true;
    for (int i = 0; i < count && all_right; ++i) {
      const float log_sum = best[i].log_sum();
      if (!std::isfinite(log_sum)) throw NotFinite(0);
      const bool watched = rules.forced(first + i) || !best[i].count;
      const int32_t right = watched ? best[i].watched_id : best[i].ids[0];
      h_.log_p.push_back((watched ? best[i].watched_logit : best[i].logits[0]) - log_sum);
      if (right == h_.ids[first + i]) continue;
      all_right = false;
      h_.ids.resize(first + i);
      h_.ids.push_back(right);
      worker_.rewind(first + i + 1);
      margin_ *= 2.0f;
    }
    states_.clear();
    banned_.clear();
    return all_right;
  }

  static constexpr int kTogether = 32;  // steps that are verified at a time

  Worker<Int8>& worker_;
  const Model<Int8>& model_;
  const aya_options& options_;
  float margin_ = 3.5f;  // a right token is missed once in some thousand steps, then less
  Hypothesis h_;
  std::vector<float> states_;   // of the steps that are not verified yet,
  std::vector<Banned> banned_;  // and what must not have come in them
};
