// Beam search that uses given terms, over one batch, by the rules of decoding/term_search.py.
#pragma once

#include <map>
#include <set>

#include "rules.h"
#include "terms.h"
#include "worker.h"

template <class P>
class TermSearch {
 public:
  TermSearch(Worker<P>& worker, const aya_options& options)
      : worker_(worker), model_(worker.model), options_(options) {}

  void run(const aya_request& request, aya_found& found) {
    const aya_lists& sources = request.sources;
    limits_ = request.limits;
    worker_.encode(sources);
    for (int s = 0; s < sources.count; ++s) {
      const int32_t* source = sources.ids + sources.offsets[s];
      const int length = int(sources.offsets[s + 1] - sources.offsets[s]);
      Rules rules(model_.config, options_, source, length, request.prefixes, s);
      sentences_.emplace_back(s, request.limits[s], std::move(rules), TermTrie(request.terms, s),
                              options_.beam);
    }
    worker_.selection.take(model_, request.selection);
    Interruption interruption(request.interrupted);
    while (!sentences_.empty()) {
      interruption.check();
      step(found);
    }
  }

 private:
  struct Alive {
    Hypothesis h;
    Progress progress;
    double total = 0.0, begun = 0.0;  // `begun` is the total before its newest term
  };
  struct Candidate {
    double total;
    float log_p;
    int32_t id;
    int parent;  // among the sentence's hypotheses
    Progress progress;
    double begun, worth = 0.0;
  };
  struct Finished {
    Hypothesis hypothesis;
    double score;
    int used;  // how many terms
  };
  struct Sentence {
    Sentence(int number, int limit, Rules rules, TermTrie trie, int beam)
        : number(number), limit(limit), rules(std::move(rules)), trie(std::move(trie)),
          width(std::max(beam, std::min(2 * this->trie.terms() + 1, 2 * beam + kSpare))),
          alive(1), costs(this->trie.terms(), kUnknown), scores(beam, kUnknown) {
      alive[0].progress = this->trie.begin();
    }

    int number, limit;
    Rules rules;
    TermTrie trie;
    int width;
    std::vector<Alive> alive;
    std::vector<double> costs;   // of each term's tokens, where it came cheapest
    std::vector<double> scores;  // of the best that were found, best first
    std::vector<Finished> found, incomplete;  // those that have used all terms, and others
    std::set<uint64_t> ended;                 // which terms the others have used
  };

  static constexpr double kUnknown = -std::numeric_limits<double>::infinity();
  static constexpr int kSpare = 2;

  int length() const { return worker_.decoder.steps(); }

  void step(aya_found& found) {
    std::vector<int32_t> newest;
    std::vector<std::pair<int, int>> rows;  // sentence, and hypothesis of it
    for (size_t i = 0; i < sentences_.size(); ++i)
      for (size_t n = 0; n < sentences_[i].alive.size(); ++n) {
        const std::vector<int32_t>& ids = sentences_[i].alive[n].h.ids;
        newest.push_back(ids.empty() ? model_.config.start : ids.back());
        rows.push_back({int(i), int(n)});
      }
    best_.resize(rows.size());
    banned_.resize(rows.size());
    looks_.resize(rows.size());
    worker_.decoder.step(newest.data(), [&](int first, int count) {
      for (int row = first; row < first + count; ++row) {
        const Sentence& sentence = sentences_[rows[row].first];
        const Alive& one = sentence.alive[rows[row].second];
        looks_[row].clear();
        if (sentence.trie.terms()) looks_[row] = sentence.trie.looks(worker_.decoder.look(length(), row));
        const int32_t watched = sentence.rules.next(one.h.ids, banned_[row]);
        best_[row].clear(2 * options_.beam, watched, sentence.trie.wanted(one.progress, looks_[row]));
      }
      const auto sentence_of = [&](int row) { return worker_.decoder.sentence_of(first + row); };
      worker_.output.best(worker_.selection, sentence_of, count, best_.data() + first,
                          banned_.data() + first);
    });
    advance(found);
  }

  void advance(aya_found& found) {
    std::vector<int32_t> parents;
    std::vector<Sentence> running;
    int row = 0;
    for (Sentence& sentence : sentences_) {
      const int first = row;
      row += int(sentence.alive.size());
      const std::vector<Candidate> kept = extend(sentence, first);
      std::vector<Alive> alive;
      for (const Candidate& c : kept) {
        alive.push_back({sentence.alive[c.parent].h, c.progress, c.total, c.begun});
        alive.back().h.extend(c.id, c.log_p, first + c.parent);
      }
      sentence.alive.swap(alive);
      if (done(sentence, kept)) {
        report(sentence, kept, found);
        continue;
      }
      for (const Candidate& c : kept) parents.push_back(first + c.parent);
      running.push_back(std::move(sentence));
    }
    sentences_.swap(running);
    worker_.decoder.select(parents.data(), int(parents.size()));
  }

  // Extends a sentence's hypotheses, whose rows begin with `first`, and takes those that end.
  std::vector<Candidate> extend(Sentence& sentence, int first) {
    std::vector<Candidate> going, ends;
    for (size_t parent = 0; parent < sentence.alive.size(); ++parent) {
      const Best& best = best_[first + parent];
      const Alive& one = sentence.alive[parent];
      const float log_sum = best.log_sum();
      if (!std::isfinite(log_sum)) throw NotFinite(sentence.number);
      const auto add = [&](float logit, int32_t id) {
        const float log_p = logit - log_sum;
        const double total = one.total + double(log_p);
        if (id == model_.config.end) {
          ends.push_back({total, log_p, id, int(parent), one.progress, total});
          return;
        }
        Progress progress = sentence.trie.after(one.progress, id, looks_[first + parent]);
        const double begun = progress.depth > 1 ? one.begun : one.total;
        if (progress.newest >= 0) {
          double& cost = sentence.costs[progress.newest];
          cost = std::max(cost, total - begun);
        }
        going.push_back({total, log_p, id, int(parent), std::move(progress), begun});
      };
      const size_t position = one.h.ids.size();
      if (sentence.rules.forced(position)) {
        add(sentence.rules.given(position) ? log_sum : best.watched_logit, best.watched_id);
        continue;
      }
      for (int i = 0; i < best.count; ++i)
        if (best.logits[i] > kNever) add(best.logits[i], best.ids[i]);
      if (!best.count && best.watched_logit > kNever) add(best.watched_logit, best.watched_id);
      const Banned& banned = banned_[first + parent];
      for (size_t i = 0; i < best.wanted.size(); ++i) {
        const int32_t id = best.wanted[i];
        const auto among = best.ids.begin() + best.count;
        if (best.wanted_logits[i] > kNever && std::find(best.ids.begin(), among, id) == among &&
            std::find(banned.begin(), banned.end(), id) == banned.end())
          add(best.wanted_logits[i], id);
      }
    }
    if (going.empty() && ends.empty()) throw NotFinite(sentence.number);
    for (Candidate& c : going) c.worth = worth(sentence, c);
    for (Candidate& c : ends) c.worth = worth(sentence, c);
    take_ends(sentence, first, going, ends);
    return shared(sentence, going);
  }

  // The number by which hypotheses are compared: the total log-probability, plus the evidence for
  // the places of the used terms, plus the expected cost of the unused terms. In the middle of a
  // term, the term's tokens are left out of the total.
  static double worth(const Sentence& sentence, const Candidate& c) {
    double to_come = 0.0;
    for (int k = 0; k < sentence.trie.terms(); ++k)
      if (!(c.progress.used >> k & 1) && sentence.costs[k] > kUnknown) to_come += sentence.costs[k];
    const double total = c.progress.in_term() ? c.begun : c.total;
    return total + c.progress.evidence + to_come;
  }

  void take_ends(Sentence& sentence, int first, const std::vector<Candidate>& going,
                 const std::vector<Candidate>& ends) const {
    const auto used_by = [&](const Candidate& c) { return sentence.alive[c.parent].progress.used; };
    const double penalty = options_.penalties[length()];
    std::vector<double> entered;
    for (const Candidate& end : ends) {
      int better = 0;
      for (const auto* some : {&going, &ends})
        for (const Candidate& other : *some)
          better += other.worth > end.worth && used_by(other) == end.progress.used;
      if (better >= options_.beam) continue;
      const double score = end.worth / penalty;
      const bool complete = sentence.trie.all_used(end.progress.used);
      if (complete && (score <= sentence.scores.back() ||
                       (options_.stop_first && int(sentence.found.size()) == options_.beam)))
        continue;
      Hypothesis h = sentence.alive[end.parent].h;
      h.extend(end.id, end.log_p, first + end.parent);
      if (complete) {
        sentence.found.push_back({h, score, count(end)});
        entered.push_back(score);
      } else {
        sentence.incomplete.push_back({h, score, count(end)});
        sentence.ended.insert(end.progress.used);
      }
    }
    std::vector<double>& scores = sentence.scores;
    scores.insert(scores.end(), entered.begin(), entered.end());
    std::sort(scores.begin(), scores.end(), std::greater<double>());
    scores.resize(options_.beam);
  }

  // The candidates that form the next beam, best first. Banks take turns.
  std::vector<Candidate> shared(const Sentence& sentence, std::vector<Candidate>& candidates) const {
    std::map<uint64_t, double> best;  // by the terms used
    for (const Candidate& c : candidates)
      if (!c.progress.in_term()) {
        const auto known = best.emplace(c.progress.used, c.worth).first;
        known->second = std::max(known->second, c.worth);
      }
    sort_by_worth(candidates);
    struct Turn {
      bool overtaken;
      int turn;
      size_t place;
    };
    std::vector<Turn> turns;
    std::map<std::pair<uint64_t, bool>, int> passed;
    for (size_t place = 0; place < candidates.size(); ++place) {
      const Candidate& c = candidates[place];
      const uint64_t used = c.progress.used;
      const bool overtaken = std::any_of(best.begin(), best.end(), [&](const auto& other) {
        return used != other.first && (used & other.first) == used && other.second >= c.worth;
      });
      turns.push_back({overtaken, passed[{used, c.progress.in_term()}]++, place});
    }
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return std::pair(a.overtaken, a.turn) < std::pair(b.overtaken, b.turn);
    });
    if (int(turns.size()) > sentence.width) turns.resize(sentence.width);
    std::vector<Candidate> kept;
    for (const Turn& turn : turns) kept.push_back(std::move(candidates[turn.place]));
    sort_by_worth(kept);
    return kept;
  }

  // The number of terms that a hypothesis has used.
  static int count(const Candidate& c) {
    int terms = 0;
    for (uint64_t used = c.progress.used; used; used &= used - 1) ++terms;
    return terms;
  }

  static void sort_by_worth(std::vector<Candidate>& candidates) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
  }

  bool done(const Sentence& sentence, const std::vector<Candidate>& alive) const {
    if (alive.empty() || length() >= std::min(sentence.limit, limits_[sentence.number])) return true;
    if (options_.stop_first) return int(sentence.found.size()) >= options_.beam;
    double most = kUnknown;
    for (const Candidate& c : alive)
      if (!sentence.ended.count(c.progress.used)) most = std::max(most, c.worth);
    if (most == kUnknown) return !sentence.found.empty();
    double hope = most / options_.penalties[length()];
    if (options_.stop_exact)
      hope = std::max(most / options_.penalties[length() + 1],
                      most / options_.penalties[sentence.limit]);
    return sentence.scores.back() >= hope;
  }

  void report(Sentence& sentence, const std::vector<Candidate>& kept, aya_found& found) const {
    std::vector<Finished>& all = sentence.found.empty() ? sentence.incomplete : sentence.found;
    if (all.empty())
      for (size_t n = 0; n < kept.size(); ++n)
        all.push_back({sentence.alive[n].h, kept[n].worth / options_.penalties[length()],
                       count(kept[n])});
    std::stable_sort(all.begin(), all.end(), [](const Finished& a, const Finished& b) {
      return std::pair(a.used, a.score) > std::pair(b.used, b.score);
    });
    const int source_length = worker_.source.lengths[sentence.number];
    for (int n = 0; n < options_.n_best; ++n)
      if (n < int(all.size()))
        ::report(all[n].hypothesis, all[n].score, sentence.number, n, options_.n_best,
                 worker_.decoder, source_length, found);
      else
        found.lengths[size_t(sentence.number) * options_.n_best + n] = 0;
  }

  Worker<P>& worker_;
  const Model<P>& model_;
  const aya_options& options_;

  const int32_t* limits_ = nullptr;  // `interrupted` may lower them during the search
  std::vector<Sentence> sentences_;  // still running, in order
  std::vector<Best> best_;           // one a row
  std::vector<Banned> banned_;
  std::vector<std::vector<double>> looks_;
};
