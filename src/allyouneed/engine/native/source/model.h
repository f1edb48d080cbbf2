// The weights of a trained Transformer, packed for one precision.
//
// Every head's width is filled up to whole panels with columns of zeros, so that the rest of the
// engine knows one shape only. 1/√d_k (equation 1) is part of W_Q here.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "interface.h"
#include "recurrence.h"
#include "screen.h"

// The tensors of a model file by name.
class Tensors {
 public:
  Tensors(int count, const char* const* names, const float* const* data, const int64_t* sizes) {
    for (int i = 0; i < count; ++i) {
      for (int64_t k = 0; k < sizes[i]; ++k)
        if (!std::isfinite(data[i][k]))
          throw std::invalid_argument(std::string(names[i]) + " holds NaN or infinity");
      tensors_[names[i]] = {data[i], sizes[i]};
    }
  }
  const float* find(const std::string& name) const {  // null: there is none
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second.data;
  }
  const float* get(const std::string& name, int64_t size) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::invalid_argument(name + " is missing");
    if (found->second.size != size)
      throw std::invalid_argument(name + " has " + std::to_string(found->second.size) +
                                  " numbers instead of " + std::to_string(size));
    return found->second.data;
  }

 private:
  struct Tensor {
    const float* data;
    int64_t size;
  };
  std::unordered_map<std::string, Tensor> tensors_;
};

struct Embeddings {
  const float *tokens = nullptr, *positions = nullptr;  // the caller's memory, not copied
  Norm norm;
};

template <class P>
struct FeedForward {
  typename P::Linear first, second;
};

template <class P>
struct EncoderLayer {
  typename P::Linear qkv, o;
  Norm attention_norm;
  FeedForward<P> feed_forward;
  Norm feed_forward_norm;
};

template <class P>
struct DecoderLayer {
  typename P::Linear qkv, o, cross_q, cross_o;
  Recurrence<P> recurrence;  // in place of qkv and o
  Norm attention_norm, cross_norm;
  FeedForward<P> feed_forward;
  Norm feed_forward_norm;
};

template <class P>
class Model {
 public:
  using Linear = typename P::Linear;

  Model(const aya_config& config, const Tensors& tensors)
      : config(config), head(int(round_up(config.head_width, kPanel))), tensors_(tensors) {
    source = embeddings("encoder");
    for (int i = 0; i < config.encoder_layers; ++i) {
      const std::string at = "encoder.layers." + std::to_string(i) + ".";
      EncoderLayer<P>& layer = encoder.emplace_back();
      pack_qkv(layer.qkv, at + "self_attention.", "QKV");
      pack_o(layer.o, at + "self_attention.");
      layer.attention_norm = norm(at + "self_attention_residual.norm.");
      pack(layer.feed_forward, at + "feed_forward.");
      layer.feed_forward_norm = norm(at + "feed_forward_residual.norm.");
    }
    encoder_norm = config.pre_norm ? norm("encoder.norm.") : Norm{};
    memory.resize(config.decoder_layers);
    for (int i = 0; i < config.decoder_layers; ++i)
      pack_qkv(memory[i], "decoder.layers." + std::to_string(i) + ".cross_attention.", "KV");
    target = embeddings("decoder");
    for (int i = 0; i < config.decoder_layers; ++i) {
      const std::string at = "decoder.layers." + std::to_string(i) + ".";
      DecoderLayer<P>& layer = decoder.emplace_back();
      if (tensors.find(at + "recurrence.W.weight")) {
        pack(layer.recurrence, at + "recurrence.");
        layer.attention_norm = norm(at + "recurrence_residual.norm.");
      } else {
        pack_qkv(layer.qkv, at + "self_attention.", "QKV");
        pack_o(layer.o, at + "self_attention.");
        layer.attention_norm = norm(at + "self_attention_residual.norm.");
      }
      pack_qkv(layer.cross_q, at + "cross_attention.", "Q");
      pack_o(layer.cross_o, at + "cross_attention.");
      layer.cross_norm = norm(at + "cross_attention_residual.norm.");
      pack(layer.feed_forward, at + "feed_forward.");
      layer.feed_forward_norm = norm(at + "feed_forward_residual.norm.");
    }
    decoder_norm = config.pre_norm ? norm("decoder.norm.") : Norm{};
    pack_plain(output, "output.", config.vocabulary, config.d_model);
    if constexpr (std::is_same_v<P, Int8>) screen.pack(arena_, output);
    if (config.rotary) turn_positions();
  }

  int width() const { return config.heads * head; }  // of all heads' queries, keys or values
  bool recurrent() const { return !decoder.empty() && decoder.front().recurrence.there; }
  bool gated() const { return Activation(config.activation) == Activation::swiglu; }

  const aya_config config;
  const int head;  // width of one head, filled up to whole panels
  Embeddings source, target;
  std::vector<EncoderLayer<P>> encoder;
  std::vector<DecoderLayer<P>> decoder;
  std::vector<Linear> memory;  // each decoder layer's keys and values of the source
  Norm encoder_norm, decoder_norm;
  Linear output;
  Screen screen;  // over `output`, where that is int8
  std::vector<float> cosines, sines;  // of rotary positions, [position][head_width / 2]

 private:
  Norm norm(const std::string& at) const {
    Norm norm;
    norm.gain = tensors_.get(at + "weight", config.d_model);
    norm.centred = !config.rms;
    norm.shift = config.rms ? nullptr : tensors_.get(at + "bias", config.d_model);
    norm.epsilon = config.norm_epsilon;
    return norm;
  }

  Embeddings embeddings(const std::string& side) const {
    const int64_t d = config.d_model;
    const bool encoder = side == "encoder";
    Embeddings e;
    e.tokens = tensors_.get(side + ".embeddings.tokens.weight",
                            d * (encoder ? config.source_vocabulary : config.vocabulary));
    e.positions = tensors_.find(side + ".embeddings.positions.table");
    if (config.normalise_embeddings) e.norm = norm(side + ".embeddings.norm.");
    return e;
  }

  // One map or several with the same inputs, beside each other: "QKV", "KV" or "Q".
  void pack_qkv(Linear& map, const std::string& at, const std::string& kinds) {
    const int heads = config.heads, narrow = config.head_width, inputs = config.d_model;
    std::vector<const float*> weights, biases;
    for (const char kind : kinds) {
      const std::string name = at + "W_" + kind + ".";
      weights.push_back(tensors_.get(name + "weight", int64_t(heads) * narrow * inputs));
      biases.push_back(config.bias ? tensors_.get(name + "bias", heads * narrow) : nullptr);
    }
    const float scale = 1.0f / std::sqrt(float(narrow));
    map.pack(arena_, {inputs, int(kinds.size()) * width(), [&](int output, float* row) {
                        const int which = output / width(), inside = output % head;
                        if (inside >= narrow) return 0.0f;
                        const int from = output % width() / head * narrow + inside;
                        const float factor = kinds[which] == 'Q' ? scale : 1.0f;
                        for (int k = 0; k < inputs; ++k)
                          row[k] = weights[which][size_t(from) * inputs + k] * factor;
                        return biases[which] ? biases[which][from] * factor : 0.0f;
                      }});
  }

  void pack_o(Linear& map, const std::string& at) {
    const int heads = config.heads, narrow = config.head_width, outputs = config.d_model;
    const float* weight = tensors_.get(at + "W_O.weight", int64_t(heads) * narrow * outputs);
    const float* bias = config.bias ? tensors_.get(at + "W_O.bias", outputs) : nullptr;
    map.pack(arena_, {width(), outputs, [&](int output, float* row) {
                        const float* from = weight + size_t(output) * heads * narrow;
                        for (int h = 0; h < heads; ++h)
                          std::memcpy(row + h * head, from + h * narrow, narrow * sizeof(float));
                        return bias ? bias[output] : 0.0f;
                      }});
  }

  void pack(FeedForward<P>& map, const std::string& at) {
    const int d = config.d_model, f = config.d_ff;
    if (gated()) {  // W_1 and the gate V_1 beside each other
      std::vector<const float*> weights, biases;
      for (const char* name : {"W_1.", "V_1."}) {
        weights.push_back(tensors_.get(at + name + "weight", int64_t(f) * d));
        biases.push_back(config.bias ? tensors_.get(at + name + "bias", f) : nullptr);
      }
      map.first.pack(arena_, {d, 2 * f, [&](int output, float* row) {
                                const int which = output / f, from = output % f;
                                std::memcpy(row, weights[which] + size_t(from) * d, d * 4);
                                return biases[which] ? biases[which][from] : 0.0f;
                              }});
    } else {
      pack_plain(map.first, at + "W_1.", f, d);
    }
    pack_plain(map.second, at + "W_2.", d, f);
  }

  void pack(Recurrence<P>& recurrence, const std::string& at) {
    const int d = config.d_model;
    const float* fresh = tensors_.get(at + "W.weight", int64_t(d) * d);
    const float* gate = tensors_.get(at + "W_f.weight", int64_t(d) * d);
    const float* bias = config.bias ? tensors_.get(at + "W_f.bias", d) : nullptr;
    recurrence.there = true;
    recurrence.map.pack(arena_, {d, 2 * d, [&](int output, float* row) {
                                   const float* from = output < d ? fresh : gate;
                                   std::memcpy(row, from + size_t(output % d) * d, d * 4);
                                   return bias && output >= d ? bias[output - d] : 0.0f;
                                 }});
  }

  void pack_plain(Linear& map, const std::string& at, int outputs, int inputs) {
    const float* weight = tensors_.get(at + "weight", int64_t(outputs) * inputs);
    const float* bias = tensors_.find(at + "bias");
    map.pack(arena_, {inputs, outputs, [&](int output, float* row) {
                        std::memcpy(row, weight + size_t(output) * inputs, inputs * sizeof(float));
                        return bias ? bias[output] : 0.0f;
                      }});
  }

  void turn_positions() {
    const int pairs = config.head_width / 2;
    for (int position = 0; position < config.max_positions; ++position)
      for (int i = 0; i < pairs; ++i) {
        const double angle = position / std::pow(10000.0, 2.0 * i / config.head_width);
        cosines.push_back(float(std::cos(angle)));
        sines.push_back(float(std::sin(angle)));
      }
  }

  const Tensors& tensors_;
  Arena arena_;
};
