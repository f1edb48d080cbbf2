// Beam search (section 6.1) over one batch, by the rules of decoding/beam.py.
//
// A sentence begins with one hypothesis and then keeps up to `beam`. It leaves the batch when it is
// done.
#pragma once

#include <functional>
#include <limits>

#include "rules.h"
#include "worker.h"

template <class P>
class Search {
 public:
  Search(Worker<P>& worker, const aya_options& options)
      : worker_(worker), model_(worker.model), options_(options) {}

  void run(const aya_request& request, aya_found& found) {
    const aya_lists& sources = request.sources;
    limits_ = request.limits;
    worker_.encode(sources);
    sentences_.clear();
    for (int s = 0; s < sources.count; ++s) {
      const int32_t* source = sources.ids + sources.offsets[s];
      const int length = int(sources.offsets[s + 1] - sources.offsets[s]);
      Sentence sentence{s, request.limits[s],
                        Rules(model_.config, options_, source, length, request.prefixes, s), {}, {}};
      sentence.scores.assign(options_.beam, -std::numeric_limits<double>::infinity());
      sentences_.push_back(std::move(sentence));
    }
    worker_.selection.take(model_, request.selection);
    alive_.assign(sources.count, Hypothesis{});
    counts_.assign(sources.count, 1);
    Interruption interruption(request.interrupted);
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
    std::vector<double> scores;  // of the best finished hypotheses, best first
    std::vector<Finished> finished;
  };
  struct Candidate {
    float total, log_p;
    int32_t id;
    int parent;  // row
  };

  int length() const { return worker_.decoder.steps(); }

  void step(aya_found& found) {
    std::vector<int32_t> newest;
    for (const Hypothesis& h : alive_)
      newest.push_back(h.ids.empty() ? model_.config.start : h.ids.back());
    best_.resize(alive_.size());
    banned_.resize(alive_.size());
    prepare();
    worker_.decoder.step(newest.data(), [&](int first, int count) {
      const auto sentence_of = [&](int row) { return worker_.decoder.sentence_of(first + row); };
      worker_.output.best(worker_.selection, sentence_of, count, best_.data() + first,
                          banned_.data() + first);
    });
    advance(found);
  }

  // Finds the banned tokens of each row, and the id whose logit is needed however small it is.
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
          const double score = double(c.total) / penalty;
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
    worker_.decoder.select(parents.data(), int(parents.size()));
  }

  // The best 2 · beam extensions of a sentence's hypotheses, best first. Among equal extensions
  // the extensions of the earlier hypothesis come first.
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
      const size_t position = alive_[row].ids.size();
      if (sentence.rules.forced(position)) {
        add(sentence.rules.given(position) ? log_sum : best.watched_logit, best.watched_id);
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
    h.extend(c.id, c.log_p, c.parent);
    h.total = c.total;
    return h;
  }

  static void finish(Sentence& sentence, const Hypothesis& h, double penalty) {
    sentence.finished.push_back({h, h.score(penalty)});
  }

  // Merges the new scores into `scores` and keeps the best `beam` of them.
  void enter(std::vector<double>& scores, const std::vector<double>& entered) const {
    scores.insert(scores.end(), entered.begin(), entered.end());
    std::sort(scores.begin(), scores.end(), std::greater<double>());
    scores.resize(options_.beam);
  }

  // Whether one more finished hypothesis is accepted. With `stop_first` a sentence accepts
  // `beam` finished hypotheses, otherwise any number.
  bool room(const Sentence& sentence) const {
    return !options_.stop_first || int(sentence.finished.size()) < options_.beam;
  }

  // Whether the sentence is done: no hypothesis that is alive can overtake the finished ones, or
  // all have reached the limit.
  bool done(const Sentence& sentence, const std::vector<Hypothesis>& alive, size_t first) const {
    if (first == alive.size() || length() >= std::min(sentence.limit, limits_[sentence.number])) return true;
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
    const int length = worker_.source.lengths[sentence.number];
    for (int n = 0; n < options_.n_best; ++n)
      if (n < int(sentence.finished.size()))
        ::report(sentence.finished[n].hypothesis, sentence.finished[n].score, sentence.number, n,
                 options_.n_best, worker_.decoder, length, found);
      else
        found.lengths[size_t(sentence.number) * options_.n_best + n] = 0;
  }

  Worker<P>& worker_;
  const Model<P>& model_;
  const aya_options& options_;

  const int32_t* limits_ = nullptr;  // `interrupted` may lower them during the search
  std::vector<Sentence> sentences_;  // the sentences that are not done, in order
  std::vector<int> counts_;          // the number of hypotheses of each sentence
  std::vector<Hypothesis> alive_;    // one for each row of the decoder
  std::vector<Best> best_;
  std::vector<Banned> banned_;
};
