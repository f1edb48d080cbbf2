// Beam search (section 6.1) over one batch, the rules of decoding/beam.py.
//
// A sentence begins with one hypothesis and has up to `beam`; it leaves the batch when it is done.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "rules.h"
#include "worker.h"

template <class P>
class Search {
 public:
  Search(Worker<P>& worker, const Model<P>& model, const aya_options& options)
      : worker_(worker), model_(model), options_(options) {}

  void run(const aya_lists& sources, int count, const int32_t* limits, const aya_lists* prefixes,
           const aya_lists* selection, aya_found& found) {
    worker_.encode(sources, count);
    sentences_.clear();
    for (int s = 0; s < count; ++s) {
      const int32_t* source = sources.ids + sources.offsets[s];
      const int length = int(sources.offsets[s + 1] - sources.offsets[s]);
      Sentence sentence{s, limits[s], Rules(model_.config, options_, source, length, prefixes, s),
                        {}, {}};
      sentence.scores.assign(options_.beam, -std::numeric_limits<double>::infinity());
      sentences_.push_back(std::move(sentence));
    }
    select_vocabulary(selection, count);
    alive_.assign(count, Hypothesis{});
    counts_.assign(count, 1);
    Interruption interruption(options_.interrupted);
    while (!sentences_.empty()) {
      interruption.check();
      step(found);
    }
  }

 private:
  struct Finished {
    Hypothesis hypothesis;
    double score;
  };
  struct Sentence {
    int number, limit;
    Rules rules;
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
      for (int n = 0; n < counts_[i]; ++n, ++row)
        best_[row].clear(2 * options_.beam, sentences_[i].rules.next(alive_[row].ids, banned_[row]));
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
          if (int(rank) < options_.beam && room(sentence) && score > sentence.scores.back()) {
            finish(sentence, extended(c), penalty);
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
          for (size_t r = before; r < alive.size(); ++r) finish(sentence, alive[r], penalty);
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
      if (!std::isfinite(log_sum)) throw NotFinite(sentence.number);
      const auto add = [&](float logit, int32_t id) {
        const float log_p = logit - log_sum;
        all.push_back({before + log_p, log_p, id, row});
      };
      if (sentence.rules.forced(alive_[row].ids.size())) {
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

  static void finish(Sentence& sentence, const Hypothesis& h, double penalty) {
    sentence.finished.push_back({h, h.score(penalty)});
  }

  // The best of what was there and what has come.
  void enter(std::vector<double>& scores, const std::vector<double>& entered) const {
    scores.insert(scores.end(), entered.begin(), entered.end());
    std::sort(scores.begin(), scores.end(), std::greater<double>());
    scores.resize(options_.beam);
  }

  // Whether one more finished hypothesis is taken: by the rule "first" no more than the beam is wide.
  bool room(const Sentence& sentence) const {
    return !options_.stop_first || int(sentence.finished.size()) < options_.beam;
  }

  // Whether no hypothesis that is alive can overtake the finished ones, or all are long enough.
  bool done(const Sentence& sentence, const std::vector<Hypothesis>& alive, size_t first) const {
    if (first == alive.size() || length() >= sentence.limit) return true;
    if (options_.stop_first) return !room(sentence);
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
      if (n < int(sentence.finished.size()))
        sentence.finished[n].hypothesis.report(sentence.finished[n].score, place, found);
      else
        found.lengths[place] = 0;
    }
  }

  // Vocabulary selection: the output layer over the ids that any sentence of the batch may need,
  // and for each sentence a mask over those that are not its own.
  void select_vocabulary(const aya_lists* selection, int count) {
    chosen_.clear();
    if (!selection) return;
    const int64_t many = selection->offsets[count];
    column_.assign(model_.output.outputs, -1);
    for (int64_t i = 0; i < many; ++i) column_[selection->ids[i]] = 0;
    for (size_t id = 0; id < column_.size(); ++id)
      if (column_[id] == 0) {
        column_[id] = int32_t(chosen_.size());
        chosen_.push_back(int32_t(id));
      }
    chosen_arena_ = std::make_unique<Arena>();
    chosen_output_.pick(*chosen_arena_, model_.output, chosen_.data(), int(chosen_.size()));
    masks_.assign(count * chosen_.size(), kNever);
    for (int s = 0; s < count; ++s)
      for (int64_t i = selection->offsets[s]; i < selection->offsets[s + 1]; ++i)
        masks_[s * chosen_.size() + column_[selection->ids[i]]] = 0.0f;
  }

  Worker<P>& worker_;
  const Model<P>& model_;
  const aya_options options_;

  std::vector<Sentence> sentences_;  // still running, in order
  std::vector<int> counts_;          // hypotheses of each
  std::vector<Hypothesis> alive_;    // one a row
  std::vector<Best> best_;
  std::vector<Banned> banned_;

  std::vector<int32_t> chosen_, column_;  // ids, ascending; where each id is among them, or -1
  std::unique_ptr<Arena> chosen_arena_;
  typename P::Linear chosen_output_;
  std::vector<float> masks_;
};
