// Checks a caller's request before anything is computed from it. Throws std::invalid_argument.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "guard.h"
#include "interface.h"
#include "terms.h"

constexpr int64_t kMostHypotheses = 1 << 20;  // of all sentences of a batch

// Checks that the offsets rise from 0 to the number of ids, and that all ids are in the vocabulary.
inline void check_lists(const char* what, const aya_lists& lists, int vocabulary) {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument(what + why); };
  if (lists.count < 0 || lists.size < 0) refuse(": a negative size");
  if (!lists.offsets || (lists.size && !lists.ids)) refuse(": no memory was given");
  if (lists.offsets[0] != 0 || lists.offsets[lists.count] != lists.size)
    refuse(": the offsets do not span the ids");
  for (int i = 0; i < lists.count; ++i)
    if (lists.offsets[i] > lists.offsets[i + 1]) refuse(": the offsets fall");
  for (int64_t i = 0; i < lists.size; ++i)
    if (lists.ids[i] < 0 || lists.ids[i] >= vocabulary)
      refuse(": id " + std::to_string(lists.ids[i]) + " is not in a vocabulary of " +
             std::to_string(vocabulary));
}

class Request {
 public:
  Request(const aya_request& request, const aya_config& config)
      : request_(request), config_(config) {}

  void check() const {
    const aya_lists& sources = request_.sources;
    check_lists("the sources", sources, config_.source_vocabulary);
    demand(sources.count >= 1, "there is no sentence");
    demand(request_.limits, "there are no limits");
    for (int s = 0; s < sources.count; ++s) {
      demand(sources.offsets[s + 1] - sources.offsets[s] <= config_.max_positions,
             "a source is longer than the model's positions");
      demand(request_.limits[s] >= 1 && request_.limits[s] <= config_.max_positions,
             "a limit does not fit the model's positions");
      longest_ = std::max(longest_, request_.limits[s]);
    }
    check_options();
    if (request_.prefixes) {
      check_lists("the prefixes", *request_.prefixes, config_.vocabulary);
      demand(request_.prefixes->count == sources.count, "not one prefix for each sentence");
      for (int s = 0; s < sources.count; ++s)
        demand(request_.prefixes->offsets[s + 1] - request_.prefixes->offsets[s] <
                   request_.limits[s],
               "a prefix leaves no room below the limit");
    }
    if (request_.selection) {
      check_lists("the selection", *request_.selection, config_.vocabulary);
      demand(request_.selection->count == sources.count, "not one selection for each sentence");
      for (int s = 0; s < sources.count; ++s)
        demand(request_.selection->offsets[s + 1] > request_.selection->offsets[s],
               "a sentence's selection is empty");
    }
    if (request_.terms) check_terms(*request_.terms);
    const aya_attention& attention = request_.attention;
    demand(attention.layer >= -1 && attention.layer < config_.decoder_layers,
           "the decoder has no such layer");
    demand(attention.head_count >= 0 && (!attention.head_count || attention.heads),
           "no memory was given for heads");
    for (int i = 0; i < attention.head_count; ++i)
      demand(attention.heads[i] >= 0 && attention.heads[i] < config_.heads,
             "the decoder has no such head");
  }

  void check(const aya_found& found) const {
    demand(found.ids && found.log_p && found.lengths && found.scores,
           "no memory was given for hypotheses");
    demand(found.room >= longest_, "the hypotheses have less room than their limit");
    const aya_lists& sources = request_.sources;
    const aya_options& options = request_.options;
    const int64_t many = options.samples ? options.samples : options.n_best;
    demand(found.places >= sources.count * many, "there are fewer places than hypotheses");
    if (request_.attention.layer < 0 || (request_.terms && !found.attention)) return;
    demand(found.attention, "no memory was given for attention");
    for (int s = 0; s < sources.count; ++s)
      demand(sources.offsets[s + 1] - sources.offsets[s] <= found.source_room,
             "the attention has less room than a source");
  }

 private:
  void check_terms(const aya_terms& terms) const {
    const aya_lists& sources = request_.sources;
    check_lists("the terms' forms", terms.forms, config_.vocabulary);
    check_lists("the terms' sources", terms.sources, config_.max_positions);
    demand(!request_.options.samples, "terms are for beam search");
    demand(request_.attention.layer >= 0, "terms need heads that tell their places");
    demand(terms.forms_of && terms.terms_of && terms.edges && (!terms.forms.count || terms.term_of),
           "no memory was given for terms");
    demand(!terms.forms_of[0] && terms.forms_of[sources.count] == terms.forms.count &&
               !terms.terms_of[0] && terms.terms_of[sources.count] == terms.sources.count,
           "the terms are not those of the sentences");
    for (int s = 0; s < sources.count; ++s) {
      const int64_t count = terms.terms_of[s + 1] - terms.terms_of[s];
      demand(count >= 0 && count <= kMostTerms && terms.terms_of[s + 1] <= terms.sources.count,
             "a sentence has too many terms");
      demand(terms.forms_of[s] <= terms.forms_of[s + 1] &&
                 terms.forms_of[s + 1] <= terms.forms.count,
             "the terms are not those of the sentences");
      for (int64_t f = terms.forms_of[s]; f < terms.forms_of[s + 1]; ++f)
        demand(terms.term_of[f] >= 0 && terms.term_of[f] < count &&
                   terms.forms.offsets[f] < terms.forms.offsets[f + 1],
               "a form is empty, or of no term");
      const int64_t length = sources.offsets[s + 1] - sources.offsets[s];
      for (int64_t t = terms.terms_of[s]; t < terms.terms_of[s + 1]; ++t)
        for (int64_t i = terms.sources.offsets[t]; i < terms.sources.offsets[t + 1]; ++i)
          demand(terms.sources.ids[i] < length, "a term is beyond its source");
    }
  }

  void check_options() const {
    constexpr int kWidest = 1 << 16;  // hypotheses of a sentence
    const aya_options& options = request_.options;
    demand(options.beam >= 1 && options.beam <= kWidest, "the beam is not in 1 ... 65536");
    demand(options.n_best >= 1 && options.n_best <= kWidest, "n_best is not in 1 ... 65536");
    demand(options.min_length >= 0 && options.no_repeat_ngram >= 0, "a length is negative");
    demand(options.given >= 0, "a number of given tokens is negative");
    demand(options.samples >= 0 && options.samples <= kWidest, "samples are not in 0 ... 65536");
    const int64_t hypotheses =
        int64_t(request_.sources.count) * (options.samples ? options.samples : options.beam);
    demand(hypotheses <= kMostHypotheses, "the batch has more than 1048576 hypotheses");
    if (options.samples) {
      demand(options.top_k >= 0, "top_k is negative");
      demand(options.top_p > 0.0 && options.top_p <= 1.0, "top_p is not above 0 and at most 1");
      demand(options.temperature > 0.0 && std::isfinite(options.temperature),
             "the temperature is not above 0");
      demand(!options.chances || options.chance_count >= hypotheses * longest_, "too few chances");
    } else {
      demand(options.penalties && options.penalty_count >= longest_ + 2,
             "too few length penalties");
      for (int n = 0; n < options.penalty_count; ++n)
        demand(options.penalties[n] > 0.0 && std::isfinite(options.penalties[n]),
               "a length penalty is not above 0, or not finite");
    }
  }

  const aya_request& request_;
  const aya_config& config_;
  mutable int32_t longest_ = 0;
};
