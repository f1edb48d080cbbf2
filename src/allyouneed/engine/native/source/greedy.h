// Greedy search for one sentence. The result is that of beam search with a beam of one. It is
// faster, because the output layer, the widest of all layers, is read in full only once in 32
// steps.
//
// A step takes the token that a rough copy of the output layer finds most probable (screen.h). The
// exact logits of up to 32 steps are then computed together. Where they favour another token, the
// search returns to that step and continues with that token.
#pragma once

#include "rules.h"
#include "worker.h"

class Greedy {
 public:
  // Whether this class can answer the request. A search with `stop_exact` may continue after the
  // first end token, so this class does not serve it.
  static bool serves(const aya_request& request) {
    const aya_options& options = request.options;
    return request.sources.count == 1 && options.beam == 1 && options.n_best == 1 &&
           !options.samples && !options.stop_exact && !request.selection;
  }

  Greedy(Worker<Int8>& worker, const aya_options& options)
      : worker_(worker), model_(worker.model), options_(options) {}

  void run(const aya_request& request, aya_found& found) {
    const aya_lists& source = request.sources;
    const int limit = request.limits[0];
    worker_.encode(source);
    const Rules rules(model_.config, options_, source.ids, int(source.offsets[1]),
                      request.prefixes, 0);
    Interruption interruption(request.interrupted);
    for (;;) {
      interruption.check();
      const bool done = length() == limit || (length() && h_.ids.back() == model_.config.end);
      if (done || length() - verified() == kTogether) {
        if (!verify(rules)) continue;
        if (done) break;
      }
      step(rules);
    }
    h_.rows.assign(h_.ids.size(), 0);
    report(h_, h_.score(options_.penalties[length()]), 0, 0, 1, worker_.decoder,
           int(source.offsets[1]), found);
  }

 private:
  int length() const { return int(h_.ids.size()); }
  int verified() const { return int(h_.log_p.size()); }

  void step(const Rules& rules) {
    const int32_t newest = length() ? h_.ids.back() : model_.config.start;
    Banned& banned = banned_.emplace_back();
    int32_t next = rules.next(h_.ids, banned);
    worker_.decoder.step(&newest, [&](int, int) {
      const float* state = worker_.chunk.x.data();
      states_.insert(states_.end(), state, state + model_.config.d_model);
      if (!rules.forced(h_.ids.size())) next = worker_.output.likeliest(model_.screen, margin_, banned);
    });
    h_.ids.push_back(next < 0 ? model_.config.end : next);
  }

  // Whether the steps since the last call took the right tokens. If not, this cuts the hypothesis
  // at the first wrong token and replaces that token by the right one.
  bool verify(const Rules& rules) {
    const int first = verified(), count = length() - first;
    std::vector<Best> best(count);
    for (int i = 0; i < count; ++i) {
      worker_.chunk.rows.set(i, states_.data() + size_t(i) * model_.config.d_model,
                             model_.config.d_model);
      const bool forced = rules.forced(first + i);
      best[i].clear(2, forced ? h_.ids[first + i] : model_.config.end);
    }
    worker_.output.best(count, best.data(), banned_.data());
    bool all_right = true;
    for (int i = 0; i < count && all_right; ++i) {
      const float log_sum = best[i].log_sum();
      if (!std::isfinite(log_sum)) throw NotFinite(0);
      const bool watched = rules.forced(first + i) || !best[i].count;
      const int32_t right = watched ? best[i].watched_id : best[i].ids[0];
      const float logit = watched ? best[i].watched_logit : best[i].logits[0];
      h_.log_p.push_back(rules.given(first + i) ? 0.0f : logit - log_sum);
      if (right == h_.ids[first + i]) continue;
      all_right = false;
      h_.ids.resize(first + i);
      h_.ids.push_back(right);
      worker_.decoder.rewind(first + i + 1);
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
  float margin_ = 3.5f;  // misses the right token once in some thousand steps; doubled after a miss
  Hypothesis h_;
  std::vector<float> states_;   // the final states of the steps that are not verified yet
  std::vector<Banned> banned_;  // the tokens that are banned at each of those steps
};
