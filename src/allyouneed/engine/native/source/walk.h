// Searches whose hypotheses do not compete: sampling, or the most probable token at each step. The
// rules are those of decoding/sampling.py and decoding/greedy.py.
//
// Every step computes the logits of the whole vocabulary, because sampling needs them. A token is
// final as soon as it is chosen, so a hypothesis can be read while it grows.
#pragma once

#include <cmath>

#include "rules.h"
#include "worker.h"

template <class P>
class Walk {
 public:
  Walk(Worker<P>& worker, const aya_request& request)
      : worker_(worker), model_(worker.model), options_(request.options) {
    const aya_lists& sources = request.sources;
    const int samples = std::max(options_.samples, 1);
    if (options_.chances)
      chances_.assign(options_.chances, options_.chances + options_.chance_count);
    longest_ = *std::max_element(request.limits, request.limits + sources.count);
    worker.encode(sources);
    worker.decoder.start(samples);
    worker.selection.take(model_, request.selection);
    rules_.reserve(sources.count);
    for (int s = 0; s < sources.count; ++s) {
      rules_.emplace_back(model_.config, options_, sources.ids + sources.offsets[s],
                          int(sources.offsets[s + 1] - sources.offsets[s]), request.prefixes, s);
      for (int n = 0; n < samples; ++n) alive_.push_back({s, n, request.limits[s], {}});
    }
  }
  Walk(const Walk&) = delete;  // the rules point to its options
  Walk& operator=(const Walk&) = delete;

  bool running() const { return !alive_.empty(); }

  // The token that the last step chose for the first of its hypotheses.
  int32_t newest() const { return newest_; }

  // Extends every hypothesis by a token. Calls use(sentence, sample, hypothesis) for each one that
  // is complete.
  template <class Use>
  void step(const Use& use) {
    std::vector<int32_t> ids;
    for (const Path& path : alive_)
      ids.push_back(path.h.ids.empty() ? model_.config.start : path.h.ids.back());
    worker_.decoder.step(ids.data(), [&](int first, int count) {
      const auto sentence_of = [&](int row) { return alive_[first + row].sentence; };
      worker_.output.all(worker_.selection, sentence_of, count,
                         [&](int row, float* logits, const int32_t* ids, int n) {
                           choose(alive_[first + row], first + row, logits, ids, n);
                         });
    });
    newest_ = alive_.front().h.ids.back();
    std::vector<Path> going;
    std::vector<int32_t> parents;
    for (size_t row = 0; row < alive_.size(); ++row) {
      Path& path = alive_[row];
      if (path.h.ids.back() == model_.config.end || int(path.h.ids.size()) == path.limit) {
        use(path.sentence, path.sample, path.h);
      } else {
        parents.push_back(int32_t(row));
        going.push_back(std::move(path));
      }
    }
    alive_.swap(going);
    worker_.decoder.select(parents.data(), int(parents.size()));
  }

 private:
  struct Path {
    int sentence, sample, limit;
    Hypothesis h;
  };
  struct Candidate {
    float logit;
    int32_t column;
    bool operator<(const Candidate& other) const {  // of equal logits the earlier column is greater
      return logit < other.logit || (logit == other.logit && column > other.column);
    }
  };

  // Extends a path by one of `count` ids, whose logits are given: ids[0..count), ascending, or all
  // ids where `ids` is null.
  void choose(Path& path, int row, float* logits, const int32_t* ids, int count) const {
    const auto id_of = [&](int column) { return ids ? ids[column] : column; };
    const auto column_of = [&](int32_t id) {
      if (!ids) return id;
      const int32_t* found = std::lower_bound(ids, ids + count, id);
      return found < ids + count && *found == id ? int32_t(found - ids) : -1;
    };
    const float most = largest(logits, count);
    const float log_sum = most + std::log(sum_of_exponentials(logits, count, most));
    if (!std::isfinite(log_sum)) throw NotFinite(path.sentence);
    const Rules& rules = rules_[path.sentence];
    Banned banned;
    const int32_t watched = rules.next(path.h.ids, banned);
    int column = watched < 0 ? -1 : column_of(watched);
    const float watched_logit = column < 0 ? kNever : logits[column];
    if (!rules.forced(path.h.ids.size())) {
      for (const int32_t id : banned) {
        const int place = column_of(id);
        if (place >= 0) logits[place] = kNever;
      }
      const int chosen = options_.chances ? drawn(path, logits, count) : likeliest(logits, count);
      if (chosen >= 0) column = chosen;
    }
    if (column < 0) throw std::invalid_argument("nothing may come next in a hypothesis");
    const float logit = watched >= 0 && id_of(column) == watched ? watched_logit : logits[column];
    const bool given = rules.given(path.h.ids.size());
    path.h.extend(id_of(column), given ? 0.0f : logit - log_sum, row);
    if (!std::isfinite(path.h.total)) throw NotFinite(path.sentence);
  }

  // The column of the largest logit, or -1 if all are banned.
  static int likeliest(const float* logits, int count) {
    const int column = int(std::max_element(logits, logits + count) - logits);
    return logits[column] > kNever ? column : -1;
  }

  // The column at which the cumulative probability, most probable tokens first, exceeds the random
  // number of this position; -1 if all are banned.
  int drawn(const Path& path, const float* logits, int count) const {
    std::vector<Candidate> all;
    for (int i = 0; i < count; ++i)
      if (logits[i] > kNever) all.push_back({logits[i], i});
    if (all.empty()) return -1;
    if (options_.top_k && size_t(options_.top_k) < all.size()) {
      const auto greater = [](const Candidate& a, const Candidate& b) { return b < a; };
      std::nth_element(all.begin(), all.begin() + options_.top_k - 1, all.end(), greater);
      all.resize(options_.top_k);
    }
    const double most = std::max_element(all.begin(), all.end())->logit;
    const auto weight = [&](const Candidate& c) {
      return std::exp((double(c.logit) - most) / options_.temperature);
    };
    double sum = 0.0;
    for (const Candidate& c : all) sum += weight(c);
    const size_t place =
        (size_t(path.sentence) * options_.samples + path.sample) * longest_ + path.h.ids.size();
    const double chance = chances_[place];
    std::make_heap(all.begin(), all.end());  // no full sort: most draws need the first few only
    auto end = all.end();
    const auto next = [&] {
      std::pop_heap(all.begin(), end);
      return *--end;
    };
    double kept = 1.0;
    if (options_.top_p < 1.0) {
      kept = 0.0;
      while (end != all.begin() && kept < options_.top_p) kept += weight(next()) / sum;
      std::reverse(end, all.end());  // the nucleus, most probable first
      const double wanted = chance * kept;
      double passed = 0.0;
      for (auto c = end; c != all.end(); ++c)
        if ((passed += weight(*c) / sum) > wanted) return c->column;
      return all.back().column;
    }
    Candidate last = all.front();
    for (double passed = 0.0; end != all.begin();) {
      last = next();
      if ((passed += weight(last) / sum) > chance) break;
    }
    return last.column;
  }

  Worker<P>& worker_;
  const Model<P>& model_;
  const aya_options options_;
  std::vector<double> chances_;
  int longest_;
  std::vector<Rules> rules_;
  std::vector<Path> alive_;
  int32_t newest_ = -1;
};
