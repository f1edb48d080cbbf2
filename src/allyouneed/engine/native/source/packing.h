// Packs the tensors of a file into a model.
#pragma once

#include <type_traits>

#include "model.h"
#include "tensors.h"

template <class P>
class Packing {
 public:
  using Linear = typename P::Linear;

  Packing(Model<P>& model, const Tensors& tensors)
      : model_(model), config_(model.config), tensors_(tensors) {}

  void run() {
    for (int i = 0; i < config_.encoder_layers; ++i) {
      const std::string at = "encoder.layers." + std::to_string(i) + ".";
      EncoderLayer<P>& layer = model_.encoder.emplace_back();
      pack_heads(layer.qkv, at + "self_attention.", "QKV");
      pack_o(layer.o, at + "self_attention.");
      layer.attention_norm = norm(at + "self_attention_residual.norm.");
      pack(layer.feed_forward, at + "feed_forward.");
      layer.feed_forward_norm = norm(at + "feed_forward_residual.norm.");
    }
    if (config_.pre_norm) model_.encoder_norm = norm("encoder.norm.");
    model_.memory.resize(config_.decoder_layers);
    for (int i = 0; i < config_.decoder_layers; ++i)
      pack_heads(model_.memory[i], "decoder.layers." + std::to_string(i) + ".cross_attention.",
                 "KV");
    for (int i = 0; i < config_.decoder_layers; ++i) {
      const std::string at = "decoder.layers." + std::to_string(i) + ".";
      DecoderLayer<P>& layer = model_.decoder.emplace_back();
      if (tensors_.has(at + "recurrence.W.weight")) {
        pack(layer.recurrence, at + "recurrence.");
        layer.attention_norm = norm(at + "recurrence_residual.norm.");
      } else {
        pack_heads(layer.qkv, at + "self_attention.", "QKV");
        pack_o(layer.o, at + "self_attention.");
        layer.attention_norm = norm(at + "self_attention_residual.norm.");
      }
      if (layer.recurrence.there != model_.recurrent())  // the decoder keeps the past of one kind
        throw std::invalid_argument("decoder layers 0 and " + std::to_string(i) +
                                    ": one has a recurrence, the other self-attention");
      pack_heads(layer.cross_q, at + "cross_attention.", "Q");
      pack_o(layer.cross_o, at + "cross_attention.");
      layer.cross_norm = norm(at + "cross_attention_residual.norm.");
      pack(layer.feed_forward, at + "feed_forward.");
      layer.feed_forward_norm = norm(at + "feed_forward_residual.norm.");
    }
    if (config_.pre_norm) model_.decoder_norm = norm("decoder.norm.");
    pack_plain(model_.output, "output.", config_.vocabulary, config_.d_model);
    if constexpr (std::is_same_v<Linear, Int8::Linear>)
      model_.screen.pack(model_.arena, model_.output);
    embed();
    if (config_.rotary) turn_positions();
    model_.arena.check_all_taken();
  }

 private:
  // The weights of several maps, and their biases where the model has any.
  struct Maps {
    std::vector<MatrixRows> weights;
    std::vector<std::vector<float>> biases;

    // Writes row `row`, of `width` numbers, of map `which` to `to` and returns its bias.
    float copy(int which, int row, int width, float* to) {
      std::copy_n(weights[which][row], width, to);
      return biases[which].empty() ? 0.0f : biases[which][row];
    }
  };

  Maps maps(const std::vector<std::string>& names, int outputs, int inputs, bool bias) const {
    Maps maps;
    for (const std::string& name : names) {
      maps.weights.emplace_back(tensors_, name + "weight", outputs, inputs);
      maps.biases.push_back(bias ? tensors_.get(name + "bias", outputs) : std::vector<float>());
    }
    return maps;
  }

  OwnedNorm norm(const std::string& at) const {
    OwnedNorm norm;
    norm.gain = tensors_.get(at + "weight", config_.d_model);
    norm.centred = !config_.rms;
    if (norm.centred) norm.shift = tensors_.get(at + "bias", config_.d_model);
    norm.epsilon = config_.norm_epsilon;
    return norm;
  }

  // Int8 embeddings that are tied to the output layer are read from it and take no memory.
  void embed() {
    const auto pack_tokens = [&](typename P::Tokens& tokens, const char* at, int vocabulary) {
      pack_beside(tokens, maps({at}, vocabulary, config_.d_model, false), 1, vocabulary,
                  config_.d_model);
    };
    bool packed = false;
    if constexpr (std::is_same_v<typename P::Tokens, Linear>) {
      packed = config_.tied_output;
      if (packed) model_.target.tokens = model_.output;
    }
    if (!packed)
      pack_tokens(model_.target.tokens, "decoder.embeddings.tokens.", config_.vocabulary);
    if (config_.tied_source)
      model_.source.tokens = model_.target.tokens;
    else
      pack_tokens(model_.source.tokens, "encoder.embeddings.tokens.", config_.source_vocabulary);
    complete(model_.source, "encoder.embeddings.");
    complete(model_.target, "decoder.embeddings.");
  }

  void complete(Embeddings<P>& embeddings, const std::string& at) const {
    if (tensors_.has(at + "positions.table"))
      embeddings.positions = tensors_.get(at + "positions.table",
                                          int64_t(config_.max_positions) * config_.d_model);
    if (config_.normalise_embeddings) embeddings.norm = norm(at + "norm.");
  }

  // One map of the heads' inputs, or several beside each other: "QKV", "KV" or "Q".
  void pack_heads(Linear& map, const std::string& at, const std::string& kinds) {
    const int narrow = config_.head_width, head = model_.head, width = model_.width();
    const int inputs = config_.d_model;
    std::vector<std::string> names;
    for (const char kind : kinds) names.push_back(at + "W_" + kind + ".");
    Maps from = maps(names, config_.heads * narrow, inputs, config_.bias);
    const float scale = 1.0f / std::sqrt(float(narrow));
    map.pack(model_.arena, {inputs, int(kinds.size()) * width, [&](int output, float* row) {
                              const int which = output / width, inside = output % head;
                              if (inside >= narrow) return 0.0f;
                              const int place = output % width / head * narrow + inside;
                              const float bias = from.copy(which, place, inputs, row);
                              if (kinds[which] != 'Q') return bias;
                              for (int k = 0; k < inputs; ++k) row[k] *= scale;
                              return bias * scale;
                            }});
  }

  void pack_o(Linear& map, const std::string& at) {
    const int heads = config_.heads, narrow = config_.head_width, head = model_.head;
    Maps from = maps({at + "W_O."}, config_.d_model, heads * narrow, config_.bias);
    std::vector<float> whole(size_t(heads) * narrow);
    map.pack(model_.arena, {model_.width(), config_.d_model, [&](int output, float* row) {
                              const float bias = from.copy(0, output, heads * narrow, whole.data());
                              for (int h = 0; h < heads; ++h)
                                std::copy_n(whole.data() + h * narrow, narrow, row + h * head);
                              return bias;
                            }});
  }

  void pack(FeedForward<P>& map, const std::string& at) {
    const int d = config_.d_model, f = config_.d_ff;
    std::vector<std::string> names{at + "W_1."};
    if (model_.gated()) names.push_back(at + "V_1.");  // the gate, beside W_1
    pack_beside(map.first, maps(names, f, d, config_.bias), int(names.size()), f, d);
    pack_beside(map.second, maps({at + "W_2."}, d, f, config_.bias), 1, d, f);
  }

  // W and the forget gate W_f beside each other; only the gate has a bias.
  void pack(Recurrence<P>& recurrence, const std::string& at) {
    const int d = config_.d_model;
    Maps from = maps({at + "W.", at + "W_f."}, d, d, false);
    if (config_.bias) from.biases[1] = tensors_.get(at + "W_f.bias", d);
    pack_beside(recurrence.map, from, 2, d, d);
    recurrence.there = true;
  }

  void pack_plain(Linear& map, const std::string& at, int outputs, int inputs) {
    pack_beside(map, maps({at}, outputs, inputs, tensors_.has(at + "bias")), 1, outputs, inputs);
  }

  template <class Map>
  void pack_beside(Map& map, Maps from, int count, int outputs, int inputs) {
    map.pack(model_.arena, {inputs, count * outputs, [&](int output, float* row) {
                              return from.copy(output / outputs, output % outputs, inputs, row);
                            }});
  }

  void turn_positions() {
    const int pairs = config_.head_width / 2;
    for (int position = 0; position < config_.max_positions; ++position)
      for (int i = 0; i < pairs; ++i) {
        const double angle = position / std::pow(10000.0, 2.0 * i / config_.head_width);
        model_.cosines.push_back(float(std::cos(angle)));
        model_.sines.push_back(float(std::sin(angle)));
      }
  }

  Model<P>& model_;
  const aya_config& config_;
  const Tensors& tensors_;
};
