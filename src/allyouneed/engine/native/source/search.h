// Beam search (section 6.1) over one batch, the rules of decoding/beam.py and constraints.py.
//
// A sentence begins with one hypothesis and has up to `beam`; it leaves the batch when it is done.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker.h"

// Log-probabilities that are no numbers: weights that lead nowhere.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Hypothesis {
  std::vector<int32_t> ids;
  std::vector<float> log_p;  // of each id
  float total = 0.0f;        // their sum
};

// Endless repetition, see decoding/constraints.py's LoopGuard: which tokens would go on with it.
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
  // How often, at most, a sequence of 1 ... 8 tokens stands in a row.
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

// No sequence of n tokens twice in a hypothesis (Paulus et al. 2018, section 2.5).
inline void ban_repeated(int n, const std::vector<int32_t>& ids, Banned& banned) {
  const int length = int(ids.size());
  for (int i = 0; i + n <= length; ++i)
    if (std::equal(ids.begin() + i, ids.begin() + i + n - 1, ids.end() - (n - 1)))
      banned.push_back(ids[i + n - 1]);
}

template <class P>
class Search {
 public:
  Search(Worker<P>& worker, const Model<P>& model, const aya_options& options)
      : worker_(worker), model_(model), options_(options) {
    for (const int32_t id : {model.config.pad, model.config.start})
      if (id != model.config.end) never_.push_back(id);
  }

  void run(const aya_lists& sources, int count, const int32_t* limits, const aya_lists* prefixes,
           const aya_lists* selection, aya_found& found) {
    worker_.encode(sources, count);
    sentences_.clear();
    for (int s = 0; s < count; ++s) {
      const int32_t* source = sources.ids + sources.offsets[s];
      const int length = int(sources.offsets[s + 1] - sources.offsets[s]);
      Sentence sentence{s, limits[s], LoopGuard(source, length), {}, {}, {}};
      if (prefixes)
        sentence.prefix.assign(prefixes->ids + prefixes->offsets[s],
                               prefixes->ids + prefixes->offsets[s + 1]);
      sentence.scores.assign(options_.beam, -std::numeric_limits<double>::infinity());
      sentences_.push_back(std::move(sentence));
    }
    select_vocabulary(selection, count);
    alive_.assign(count, Hypothesis{});
    counts_.assign(count, 1);
    while (!sentences_.empty()) step(found);
  }

 private:
  struct Finished {
    Hypothesis hypothesis;
    double score;
  };
  struct Sentence {
    int number, limit;
    LoopGuard guard;
    std::vector<int32_t> prefix;
    std::vector<double> scores;  // of the best finished ones, best first
    std::vector<Finished> finished;
  };
  struct Candidate {
    float total, log_p;
    int32_t id;
    int parent;  // row
  };

  int length() const { return worker_.steps(); }

  void step(aya_found& found) {
    std::vector<int32_t> newest;
    for (const Hypothesis& h : alive_)
      newest.push_back(h.ids.empty() ? model_.config.start : h.ids.back());
    best_.resize(alive_.size());
    banned_.resize(alive_.size());
    prepare();
    worker_.step(newest.data(), [&](int first, int count) {
      const bool some = !chosen_.empty();
      worker_.best(some ? chosen_output_ : model_.output, some ? chosen_.data() : nullptr, count,
                   best_.data() + first, banned_.data() + first, [&](int row) {
                     return some ? masks_.data() +
                                       size_t(worker_.sentence_of(first + row)) * chosen_.size()
                                 : nullptr;
                   });
    });
    advance(found);
  }

  // What must not come next, and which id has to be looked at in any case.
  void prepare() {
    int row = 0;
    for (size_t i = 0; i < sentences_.size(); ++i)
      for (int n = 0; n < counts_[i]; ++n, ++row) {
        const Sentence& sentence = sentences_[i];
        const std::vector<int32_t>& ids = alive_[row].ids;
        Banned& banned = banned_[row];
        banned = never_;
        int32_t watched = -1;
        if (ids.size() < sentence.prefix.size()) {
          watched = sentence.prefix[ids.size()];
        } else {
          if (options_.no_repeat_ngram) ban_repeated(options_.no_repeat_ngram, ids, banned);
          if (options_.loop_guard) sentence.guard.ban(ids, banned);
          if (int(ids.size()) < options_.min_length) {
            watched = model_.config.end;  // it comes after all where nothing else may
            banned.push_back(watched);
          }
        }
        best_[row].clear(2 * options_.beam, watched);
      }
  }

  void advance(aya_found& found) {
    const int32_t end = model_.config.end;
    std::vector<Hypothesis> alive;
    std::vector<int32_t> parents;
    std::vector<Sentence> sentences;
    std::vector<int> counts;
    int row = 0;
    for (size_t i = 0; i < sentences_.size(); ++i) {
      Sentence& sentence = sentences_[i];
      const std::vector<Candidate> candidates = extensions(sentence, row, counts_[i]);
      row += counts_[i];
      const double penalty = options_.penalties[length()];
      std::vector<double> entered;
      int taken = 0;
      const size_t before = alive.size();
      for (size_t rank = 0; rank < candidates.size(); ++rank) {
        const Candidate& c = candidates[rank];
        if (c.id == end) {
          const double score = c.total / penalty;
          if (int(rank) < options_.beam && score > sentence.scores.back()) {
            sentence.finished.push_back({extended(c), 0.0});
            rank_by(sentence.finished.back(), penalty);
            entered.push_back(score);
          }
        } else if (taken < options_.beam) {
          ++taken;
          alive.push_back(extended(c));
          parents.push_back(c.parent);
        }
      }
      enter(sentence.scores, entered);
      if (done(sentence, alive, before)) {
        if (sentence.finished.empty())
          for (size_t r = before; r < alive.size(); ++r) {
            sentence.finished.push_back({alive[r], 0.0});
            rank_by(sentence.finished.back(), penalty);
          }
        report(sentence, found);
        alive.resize(before);
        parents.resize(before);
      } else {
        counts.push_back(int(alive.size() - before));
        sentences.push_back(std::move(sentence));
      }
    }
    sentences_.swap(sentences);
    counts_.swap(counts);
    alive_.swap(alive);
    worker_.select(parents);
  }

  // The best 2 · beam of all extensions of a sentence's hypotheses, best first; of equal ones the
  // earlier hypothesis' come first.
  std::vector<Candidate> extensions(const Sentence& sentence, int first, int count) {
    std::vector<Candidate> all;
    for (int row = first; row < first + count; ++row) {
      const Best& best = best_[row];
      const float log_sum = best.log_sum(), before = alive_[row].total;
      if (!std::isfinite(log_sum))
        throw NotFinite("sentence " + std::to_string(sentence.number) +
                        ": the model's log-probabilities are not finite");
      const auto add = [&](float logit, int32_t id) {
        const float log_p = logit - log_sum;
        all.push_back({before + log_p, log_p, id, row});
      };
      if (alive_[row].ids.size() < sentence.prefix.size()) {
        add(best.watched_logit, best.watched_id);
      } else {
        for (int i = 0; i < best.count; ++i)
          if (best.logits[i] > kNever) add(best.logits[i], best.ids[i]);
        if (!best.count && best.watched_logit > kNever) add(best.watched_logit, best.watched_id);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.total > b.total; });
    if (int(all.size()) > 2 * options_.beam) all.resize(2 * options_.beam);
    return all;
  }

  Hypothesis extended(const Candidate& c) const {
    Hypothesis h = alive_[c.parent];
    h.ids.push_back(c.id);
    h.log_p.push_back(c.log_p);
    h.total = c.total;
    return h;
  }

  static void rank_by(Finished& f, double penalty) {
    f.score = std::accumulate(f.hypothesis.log_p.begin(), f.hypothesis.log_p.end(), 0.0) / penalty;
  }

  // The best of what was there and what has come.
  void enter(std::vector<double>& scores, const std::vector<double>& entered) const {
    scores.insert(scores.end(), entered.begin(), entered.end());
    std::sort(scores.begin(), scores.end(), std::greater<double>());
    scores.resize(options_.beam);
  }

  // Whether no hypothesis that is alive can overtake the finished ones, or all are long enough.
  bool done(const Sentence& sentence, const std::vector<Hypothesis>& alive, size_t first) const {
    if (first == alive.size() || length() >= sentence.limit) return true;
    const double total = alive[first].total;
    double hope = total / options_.penalties[length()];
    if (options_.stop_exact)
      hope = std::max(total / options_.penalties[length() + 1],
                      total / options_.penalties[sentence.limit]);
    return sentence.scores.back() >= hope;
  }

  void report(Sentence& sentence, aya_found& found) const {
    std::stable_sort(sentence.finished.begin(), sentence.finished.end(),
                     [](const Finished& a, const Finished& b) { return a.score > b.score; });
    for (int n = 0; n < options_.n_best; ++n) {
      const size_t place = size_t(sentence.number) * options_.n_best + n;
      const bool there = n < int(sentence.finished.size());
      found.lengths[place] = there ? int32_t(sentence.finished[n].hypothesis.ids.size()) : 0;
      if (!there) continue;
      const Finished& f = sentence.finished[n];
      found.scores[place] = f.score;
      std::copy(f.hypothesis.ids.begin(), f.hypothesis.ids.end(), found.ids + place * found.room);
      std::copy(f.hypothesis.log_p.begin(), f.hypothesis.log_p.end(),
                found.log_p + place * found.room);
    }
  }

  // Vocabulary selection: the output layer over the ids that any sentence of the batch may need,
  // and for each sentence a mask over those that are not its own.
  void select_vocabulary(const aya_lists* selection, int count) {
    chosen_.clear();
    if (!selection) return;
    chosen_.assign(selection->ids, selection->ids + selection->offsets[count]);
    std::sort(chosen_.begin(), chosen_.end());
    chosen_.erase(std::unique(chosen_.begin(), chosen_.end()), chosen_.end());
    chosen_arena_ = std::make_unique<Arena>();
    chosen_output_.pick(*chosen_arena_, model_.output, chosen_.data(), int(chosen_.size()));
    masks_.assign(count * chosen_.size(), kNever);
    for (int s = 0; s < count; ++s)
      for (int64_t i = selection->offsets[s]; i < selection->offsets[s + 1]; ++i) {
        const auto at = std::lower_bound(chosen_.begin(), chosen_.end(), selection->ids[i]);
        masks_[s * chosen_.size() + (at - chosen_.begin())] = 0.0f;
      }
  }

  Worker<P>& worker_;
  const Model<P>& model_;
  const aya_options options_;
  Banned never_;

  std::vector<Sentence> sentences_;  // still running, in order
  std::vector<int> counts_;          // hypotheses of each
  std::vector<Hypothesis> alive_;    // one a row
  std::vector<Best> best_;
  std::vector<Banned> banned_;

  std::vector<int32_t> chosen_;
  std::unique_ptr<Arena> chosen_arena_;
  typename P::Linear chosen_output_;
  std::vector<float> masks_;
};
