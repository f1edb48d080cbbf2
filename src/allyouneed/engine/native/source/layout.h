// The offset and size of each field of interface.h's structures, as text. A test compares
// bindings.py with it.
#pragma once

#include <cstddef>
#include <string>

#include "interface.h"

inline std::string layout() {
  std::string text;
  const auto line = [&](const char* structure, const char* field, size_t offset, size_t size) {
    text += std::string(structure) + " " + field + " " + std::to_string(offset) + " " +
            std::to_string(size) + "\n";
  };
#define FIELD(S, F) line(#S, #F, offsetof(S, F), sizeof(S::F))
  FIELD(aya_config, vocabulary);
  FIELD(aya_config, source_vocabulary);
  FIELD(aya_config, d_model);
  FIELD(aya_config, heads);
  FIELD(aya_config, head_width);
  FIELD(aya_config, d_ff);
  FIELD(aya_config, encoder_layers);
  FIELD(aya_config, decoder_layers);
  FIELD(aya_config, max_positions);
  FIELD(aya_config, pre_norm);
  FIELD(aya_config, rms);
  FIELD(aya_config, activation);
  FIELD(aya_config, rotary);
  FIELD(aya_config, normalise_embeddings);
  FIELD(aya_config, bias);
  FIELD(aya_config, tied_source);
  FIELD(aya_config, tied_output);
  FIELD(aya_config, pad);
  FIELD(aya_config, start);
  FIELD(aya_config, end);
  FIELD(aya_config, norm_epsilon);
  FIELD(aya_config, embedding_scale);
  FIELD(aya_lists, count);
  FIELD(aya_lists, size);
  FIELD(aya_lists, ids);
  FIELD(aya_lists, offsets);
  FIELD(aya_options, beam);
  FIELD(aya_options, n_best);
  FIELD(aya_options, min_length);
  FIELD(aya_options, no_repeat_ngram);
  FIELD(aya_options, loop_guard);
  FIELD(aya_options, stop_exact);
  FIELD(aya_options, stop_first);
  FIELD(aya_options, penalty_count);
  FIELD(aya_options, given);
  FIELD(aya_options, penalties);
  FIELD(aya_options, samples);
  FIELD(aya_options, top_k);
  FIELD(aya_options, top_p);
  FIELD(aya_options, temperature);
  FIELD(aya_options, chance_count);
  FIELD(aya_options, chances);
  FIELD(aya_attention, layer);
  FIELD(aya_attention, head_count);
  FIELD(aya_attention, heads);
  FIELD(aya_terms, forms);
  FIELD(aya_terms, term_of);
  FIELD(aya_terms, forms_of);
  FIELD(aya_terms, sources);
  FIELD(aya_terms, terms_of);
  FIELD(aya_terms, edges);
  FIELD(aya_request, sources);
  FIELD(aya_request, limits);
  FIELD(aya_request, prefixes);
  FIELD(aya_request, selection);
  FIELD(aya_request, options);
  FIELD(aya_request, attention);
  FIELD(aya_request, terms);
  FIELD(aya_request, interrupted);
  FIELD(aya_found, room);
  FIELD(aya_found, source_room);
  FIELD(aya_found, places);
  FIELD(aya_found, ids);
  FIELD(aya_found, log_p);
  FIELD(aya_found, lengths);
  FIELD(aya_found, scores);
  FIELD(aya_found, attention);
#undef FIELD
  return text;
}
