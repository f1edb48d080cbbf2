// Terms that a translation has to use, and the progress of a hypothesis through them. The rules are
// those of decoding/terms.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "interface.h"

constexpr int kMostTerms = 60;  // of a sentence; the set of used terms fits into 64 bits

// The terms that a hypothesis has used so far, and how well their places fit the attention
// (`Progress` of terms.py).
struct Progress {
  uint64_t used = 0;
  int32_t node = 0, depth = 0, newest = -1;
  bool in_word = false;
  double place = 0.0, newest_place = 0.0, evidence = 0.0;
  std::vector<double> looked;

  bool in_term() const { return node != 0 && newest < 0; }
};

// The forms of one sentence's terms, token by token.
class TermTrie {
 public:
  TermTrie(const aya_terms* terms, int sentence) : nodes_(1) {
    if (!terms) return;
    edges_ = terms->edges;
    for (int64_t t = terms->terms_of[sentence]; t < terms->terms_of[sentence + 1]; ++t)
      sources_.emplace_back(terms->sources.ids + terms->sources.offsets[t],
                            terms->sources.ids + terms->sources.offsets[t + 1]);
    for (int64_t f = terms->forms_of[sentence]; f < terms->forms_of[sentence + 1]; ++f)
      add(terms->term_of[f], terms->forms.ids + terms->forms.offsets[f],
          int(terms->forms.offsets[f + 1] - terms->forms.offsets[f]));
  }

  int terms() const { return int(sources_.size()); }
  bool all_used(uint64_t used) const { return used == (uint64_t(1) << terms()) - 1; }

  Progress begin() const {
    Progress progress;
    progress.looked.assign(terms(), 0.0);
    return progress;
  }

  // The share of a step's attention that falls on each term.
  std::vector<double> looks(const float* look) const {
    std::vector<double> found(terms(), 0.0);
    for (int k = 0; k < terms(); ++k)
      for (const int32_t s : sources_[k]) found[k] += look[s];
    return found;
  }

  Progress after(const Progress& before, int32_t id, const std::vector<double>& looks) const {
    if (!terms()) return before;
    const bool joins = edges_[id] & kJoins;
    Progress now = before;
    if (before.newest >= 0 && joins)
      now.used &= ~bit(before.newest);
    else if (before.newest >= 0)
      now.place += before.newest_place;
    now.depth = before.depth + 1;
    now.node = before.node ? next(before.node, id) : 0;
    if (!now.node) {
      now.depth = 1;
      now.newest_place = 0.0;
      now.node = joins && before.in_word ? 0 : next(0, id);
      const uint64_t unused = now.node ? nodes_[now.node].below & ~now.used : 0;
      bool first = true;
      for (int k = 0; k < terms(); ++k)
        if (unused & bit(k)) {
          const double place = logarithm(looks[k]);
          now.newest_place = first ? place : std::max(now.newest_place, place);
          first = false;
        }
    }
    const Node& node = nodes_[now.node];
    now.newest = -1;
    for (const int32_t k : node.complete)
      if (!(now.used & bit(k))) {
        now.newest = k;
        now.used |= bit(k);
        break;
      }
    if (node.next.empty() || (now.newest < 0 && !(node.below & ~now.used))) now.node = now.depth = 0;
    if (now.newest < 0 && !now.node) now.newest_place = 0.0;
    const uint64_t present = now.used | (now.node ? node.below : 0);
    double missed = 0.0;
    for (int k = 0; k < terms(); ++k)
      if (!(present & bit(k))) {
        now.looked[k] = std::max(now.looked[k], looks[k]);
        missed += logarithm(1.0 - now.looked[k]);
      }
    now.evidence = now.place + now.newest_place + missed;
    now.in_word = edges_[id] & kLetterLast;
    return now;
  }

  // The ids that continue or begin a term that the hypothesis has not used yet.
  std::vector<int32_t> wanted(const Progress& progress, const std::vector<double>& looks) const {
    std::vector<int32_t> found;
    if (progress.node) add_next(progress.node, ~progress.used, true, found);
    if (!progress.in_term()) {
      uint64_t here = 0;
      for (int k = 0; k < terms(); ++k)
        if (looks[k] >= kEnoughLook) here |= bit(k);
      add_next(0, here & ~progress.used, !progress.in_word, found);
    }
    return found;
  }

 private:
  struct Node {
    std::vector<std::pair<int32_t, int32_t>> next;  // id, node
    std::vector<int32_t> complete;
    uint64_t below = 0;
  };

  static constexpr uint8_t kJoins = 1, kLetterLast = 2;
  static constexpr double kLeastLook = 0.01, kEnoughLook = 0.15;

  static uint64_t bit(int k) { return uint64_t(1) << k; }
  static double logarithm(double share) { return std::log(std::max(share, kLeastLook)); }

  void add(int32_t term, const int32_t* form, int length) {
    int32_t node = 0;
    nodes_[0].below |= bit(term);
    for (int i = 0; i < length; ++i) {
      int32_t after = next(node, form[i]);
      if (!after) {
        after = int32_t(nodes_.size());
        nodes_[node].next.push_back({form[i], after});
        nodes_.emplace_back();
      }
      node = after;
      nodes_[node].below |= bit(term);
    }
    nodes_[node].complete.push_back(term);
  }

  // The node that follows a node by this id; 0 if there is none.
  int32_t next(int32_t node, int32_t id) const {
    for (const auto& [each, after] : nodes_[node].next)
      if (each == id) return after;
    return 0;
  }

  void add_next(int32_t node, uint64_t terms, bool may_join, std::vector<int32_t>& to) const {
    for (const auto& [id, after] : nodes_[node].next)
      if (nodes_[after].below & terms && (may_join || !(edges_[id] & kJoins)) &&
          std::find(to.begin(), to.end(), id) == to.end())
        to.push_back(id);
  }

  const uint8_t* edges_ = nullptr;
  std::vector<std::vector<int32_t>> sources_;  // of each term, the places in the source
  std::vector<Node> nodes_;
};
