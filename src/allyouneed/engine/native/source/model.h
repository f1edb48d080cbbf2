// The weights of a trained Transformer, packed for one precision; packing.h fills them in.
//
// Every head is padded with columns of zeros to whole panels, so that the rest of the engine
// handles one shape only. The factor 1/√d_k of equation 1 is part of W_Q here.
#pragma once

#include <string>
#include <vector>

#include "interface.h"
#include "recurrence.h"
#include "screen.h"

// A norm with its own weights.
struct OwnedNorm {
  std::vector<float> gain, shift;  // empty gain: there is no norm; empty shift: the shift is 0
  float epsilon = 0.0f;
  bool centred = true;

  void operator()(const float* x, float* out, int n) const {
    Norm{gain.empty() ? nullptr : gain.data(), shift.empty() ? nullptr : shift.data(), epsilon,
         centred}(x, out, n);
  }
};

template <class P>
struct Embeddings {
  typename P::Tokens tokens;
  std::vector<float> positions;  // [position][d_model], or empty
  OwnedNorm norm;
};

template <class P>
struct FeedForward {
  typename P::Linear first, second;
};

template <class P>
struct EncoderLayer {
  typename P::Linear qkv, o;
  OwnedNorm attention_norm;
  FeedForward<P> feed_forward;
  OwnedNorm feed_forward_norm;
};

template <class P>
struct DecoderLayer {
  typename P::Linear qkv, o, cross_q, cross_o;
  Recurrence<P> recurrence;  // where it is there, qkv and o are unused
  OwnedNorm attention_norm, cross_norm;
  FeedForward<P> feed_forward;
  OwnedNorm feed_forward_norm;
};

inline void check_config(const aya_config& config) {
  const auto check = [](const char* name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
      throw std::invalid_argument(std::string(name) + "=" + std::to_string(value) + " is not in " +
                                  std::to_string(least) + " ... " + std::to_string(most));
  };
  constexpr int kWidest = 1 << 17;
  check("vocabulary", config.vocabulary, 1, 1 << 24);
  check("source_vocabulary", config.source_vocabulary, 1, 1 << 24);
  check("d_model", config.d_model, 1, kWidest);
  check("heads", config.heads, 1, kWidest);
  check("head_width", config.head_width, 1, kWidest);
  check("the width of all heads", int64_t(config.heads) * (config.head_width + kPanel), 1, kWidest);
  check("d_ff", config.d_ff, 1, 1 << 20);
  check("encoder_layers", config.encoder_layers, 0, 1024);
  check("decoder_layers", config.decoder_layers, 0, 1024);
  check("max_positions", config.max_positions, 1, 1 << 20);
  check("the table of rotary positions", int64_t(config.max_positions) * config.head_width, 1,
        1 << 28);
  check("the attention weights of a step", int64_t(config.heads) * config.max_positions, 1, 1 << 30);
  check("activation", config.activation, 0, 3);
  for (const int id : {config.pad, config.start, config.end})
    check("a special id", id, 0, config.vocabulary - 1);
  if (config.tied_source && config.source_vocabulary != config.vocabulary)
    throw std::invalid_argument("embeddings are tied, but the vocabularies have two sizes");
}

template <class P>
struct Model {
  using Linear = typename P::Linear;

  explicit Model(const aya_config& config)
      : config((check_config(config), config)), head(int(round_up(config.head_width, kPanel))) {}
  Model(const Model&) = delete;  // its maps are views of its arena
  Model& operator=(const Model&) = delete;

  int width() const { return config.heads * head; }  // of all heads' queries, keys or values
  bool recurrent() const { return !decoder.empty() && decoder.front().recurrence.there; }
  bool gated() const { return Activation(config.activation) == Activation::swiglu; }

  const aya_config config;
  const int head;  // width of one head, padded to whole panels
  Embeddings<P> source, target;
  std::vector<EncoderLayer<P>> encoder;
  std::vector<DecoderLayer<P>> decoder;
  std::vector<Linear> memory;  // each decoder layer's keys and values of the source
  OwnedNorm encoder_norm, decoder_norm;
  Linear output;
  Screen screen;                      // a rough copy of `output`, where that is int8
  std::vector<float> cosines, sines;  // of rotary positions, [position][head_width / 2]
  Arena arena;
};
