// The parts that all searches share: a hypothesis, the rules for its next token, and its report.
// The rules are those of decoding/constraints.py.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "best.h"
#include "guard.h"
#include "interface.h"

// The model gives log-probabilities that are not finite.
struct NotFinite : Numbered {
  explicit NotFinite(int sentence)
      : Numbered(AYA_NOT_FINITE, "sentence " + std::to_string(sentence) +
                                     ": the model's log-probabilities are not finite") {}
};

// The caller has interrupted the search.
struct Stopped : Numbered {
  Stopped() : Numbered(AYA_STOPPED, "the search was interrupted") {}
};

// Asks the caller every 50 ms whether to continue. Asking after each step would take longer than
// the steps of a short search.
class Interruption {
 public:
  explicit Interruption(int32_t (*interrupted)(void)) : interrupted_(interrupted) {}

  void check() {
    if (!interrupted_ || Clock::now() < next_) return;
    if (interrupted_()) throw Stopped();
    next_ = Clock::now() + kPause;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{50};

  int32_t (*interrupted_)(void);
  Clock::time_point next_ = Clock::now() + kPause;
};

struct Hypothesis {
  std::vector<int32_t> ids;
  std::vector<float> log_p;    // of each id
  std::vector<int32_t> rows;   // the decoder's row number at the step of each id
  float total = 0.0f;          // the sum of log_p

  void extend(int32_t id, float log_p_of_id, int32_t row) {
    ids.push_back(id);
    log_p.push_back(log_p_of_id);
    rows.push_back(row);
    total += log_p_of_id;
  }

  double score(double penalty) const {
    return std::accumulate(log_p.begin(), log_p.end(), 0.0) / penalty;
  }
};

// Writes a hypothesis to place n of a sentence, with its attention from `decoder` where that is
// wanted.
template <class Decoder>
void report(const Hypothesis& h, double score, int sentence, int n, int n_best,
            const Decoder& decoder, int source_length, aya_found& found) {
  const size_t place = size_t(sentence) * n_best + n;
  found.lengths[place] = int32_t(h.ids.size());
  found.scores[place] = score;
  std::copy(h.ids.begin(), h.ids.end(), found.ids + place * found.room);
  std::copy(h.log_p.begin(), h.log_p.end(), found.log_p + place * found.room);
  if (!found.attention || !decoder.watches()) return;
  float* to = found.attention + place * found.room * found.source_room;
  for (size_t t = 0; t < h.rows.size(); ++t, to += found.source_room) {
    const float* look = decoder.look(int(t), h.rows[t]);
    std::copy(look, look + source_length, to);
  }
}

// Bans the tokens that would continue an endless repetition (decoding/constraints.py's LoopGuard).
class LoopGuard {
 public:
  LoopGuard(const int32_t* source, int length)
      : allowed_(std::max(2 * repetitions(source, length), kTimes)) {}

  void ban(const std::vector<int32_t>& ids, Banned& banned) const {
    const int length = int(ids.size());
    for (int period = 1; period <= kPeriods; ++period) {
      const int matches = period * (allowed_ - 1);
      if (length < period + matches) break;
      bool loop = true;
      for (int i = length - matches; i < length && loop; ++i) loop = ids[i] == ids[i - period];
      if (loop) banned.push_back(ids[length - period]);
    }
  }

 private:
  // The largest number of times that a sequence of 1 ... 8 tokens is repeated without a gap.
  static int repetitions(const int32_t* ids, int length) {
    int most = 1;
    for (int period = 1; period <= std::min(kPeriods, length - 1); ++period) {
      int matches = 0;
      for (int i = period; i < length; ++i) {
        matches = ids[i] == ids[i - period] ? matches + 1 : 0;
        most = std::max(most, matches / period + 1);
      }
    }
    return most;
  }

  static constexpr int kPeriods = 8, kTimes = 5;
  int allowed_;
};

// Bans the tokens that would repeat a sequence of n tokens (Paulus et al. 2018, section 2.5).
inline void ban_repeated(int n, const std::vector<int32_t>& ids, Banned& banned) {
  const int length = int(ids.size());
  for (int i = 0; i + n <= length; ++i)
    if (std::equal(ids.begin() + i, ids.begin() + i + n - 1, ids.end() - (n - 1)))
      banned.push_back(ids[i + n - 1]);
}

// The rules for the next token of one sentence's hypotheses.
class Rules {
 public:
  Rules(const aya_config& config, const aya_options& options, const int32_t* source, int length,
        const aya_lists* prefixes, int sentence)
      : config_(&config), options_(&options), guard_(source, length) {
    if (prefixes)
      prefix_.assign(prefixes->ids + prefixes->offsets[sentence],
                     prefixes->ids + prefixes->offsets[sentence + 1]);
  }

  // Whether the prefix fixes the token at this position.
  bool forced(size_t position) const { return position < prefix_.size(); }

  // Whether the token at this position has log-probability 0: it is part of the prefix and names
  // the language, which the model need not predict.
  bool given(size_t position) const {
    return forced(position) && position < size_t(options_->given);
  }

  // Writes to `banned` the tokens that must not follow `ids`. Returns an id whose logit the search
  // needs however small it is (a forced token, or the end token), or -1.
  int32_t next(const std::vector<int32_t>& ids, Banned& banned) const {
    banned.clear();
    for (const int32_t id : {config_->pad, config_->start})
      if (id != config_->end) banned.push_back(id);
    if (forced(ids.size())) return prefix_[ids.size()];
    if (options_->no_repeat_ngram) ban_repeated(options_->no_repeat_ngram, ids, banned);
    if (options_->loop_guard) guard_.ban(ids, banned);
    if (int(ids.size()) >= options_->min_length) return -1;
    banned.push_back(config_->end);  // used all the same if every other token is banned
    return config_->end;
  }

 private:
  const aya_config* config_;
  const aya_options* options_;
  LoopGuard guard_;
  std::vector<int32_t> prefix_;
};
