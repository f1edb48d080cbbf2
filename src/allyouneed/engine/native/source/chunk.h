// The rows that pass through a layer together, and the operations that all sub-layers share.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention.h"
#include "model.h"

constexpr int kChunk = 128;  // rows; their states fit into the L2 cache

template <class P>
struct Chunk {
  using Linear = typename P::Linear;

  Chunk(const Model<P>& model, int threads)
      : model(model), config(model.config), team(threads), scores(team.size()) {
    const int hidden = config.d_ff * (model.gated() ? 2 : 1);
    stride = panels_of(std::max({3 * model.width(), hidden, 2 * config.d_model})) * kPanel;
    wide.resize(size_t(kChunk) * stride);
    narrow_stride = panels_of(config.d_model) * kPanel;
    narrow.resize(size_t(kChunk) * narrow_stride);
    x.resize(size_t(kChunk) * config.d_model);
    context.resize(size_t(kChunk) * model.width());
    rows.resize(kChunk, std::max(config.d_model, model.width()));
    inner.resize(kChunk, config.d_ff);
  }

  // Calls work(row) for rows 0 ... count - 1. All threads share the rows, unless there are too few
  // to be worth waking a thread.
  template <class Work>
  void each(int count, const Work& work) {
    if (team.size() == 1 || count < 4) {
      for (int row = 0; row < count; ++row) work(row);
    } else {
      team.run([&](int member, int members) {
        const Share share(count, member, members);
        for (int row = share.begin; row < share.end; ++row) work(row);
      });
    }
  }

  // Applies the map to `rows` and writes the result to `wide`.
  void widen(const Linear& map, int count) { apply(team, map, rows, count, wide.data(), stride); }

  // Writes √d · token + position (sections 3.4 and 3.5) of `count` ids to `states`. The first id is
  // at position `first`, each next one `apart` positions further.
  void embed(const Embeddings<P>& embeddings, const int32_t* ids, int count, int first, int apart,
             float* states) {
    const int d = config.d_model;
    each(count, [&](int row) {
      if (ids[row] < 0 || ids[row] >= embeddings.tokens.outputs)
        throw std::invalid_argument("id " + std::to_string(ids[row]) + " is not in a vocabulary of " +
                                    std::to_string(embeddings.tokens.outputs));
      float* to = states + size_t(row) * d;
      embeddings.tokens.row(ids[row], to);
      for (int i = 0; i < d; ++i) to[i] *= config.embedding_scale;
      if (!embeddings.positions.empty())
        add(to, embeddings.positions.data() + size_t(first + row * apart) * d, d);
      embeddings.norm(to, to, d);
    });
  }

  // Copies the states to `rows`, the input of a sub-layer. A pre-norm model normalises the copy.
  void enter(const OwnedNorm& norm, const float* states, int count) {
    const int d = config.d_model;
    each(count, [&](int row) {
      const float* from = states + size_t(row) * d;
      if (config.pre_norm) {
        float* normal = narrow.data() + size_t(row) * narrow_stride;
        norm(from, normal, d);
        from = normal;
      }
      rows.set(row, from, d);
    });
  }

  // The residual connection: adds `narrow` to the states. A post-norm model then normalises them.
  void leave(const OwnedNorm& norm, float* states, int count) {
    const int d = config.d_model;
    each(count, [&](int row) {
      float* into = states + size_t(row) * d;
      add(into, narrow.data() + size_t(row) * narrow_stride, d);
      if (!config.pre_norm) norm(into, into, d);
    });
  }

  // Applies W_O to the heads' results, then the residual connection.
  void join(const Linear& o, const float* heads, const OwnedNorm& norm, float* states, int count) {
    const int width = model.width();
    each(count, [&](int row) { rows.set(row, heads + size_t(row) * width, width); });
    apply(team, o, rows, count, narrow.data(), narrow_stride);
    leave(norm, states, count);
  }

  void feed_forward(const FeedForward<P>& map, const OwnedNorm& norm, float* states, int count) {
    enter(norm, states, count);
    widen(map.first, count);
    each(count, [&](int row) {
      float* hidden = wide.data() + size_t(row) * stride;
      activate(Activation(config.activation), hidden, config.d_ff);
      inner.set(row, hidden, config.d_ff);
    });
    apply(team, map.second, inner, count, narrow.data(), narrow_stride);
    leave(norm, states, count);
  }

  // Normalises the states in place, if the model has a last norm, and copies them to `rows`, the
  // input of the products after the last layer.
  void finish(const OwnedNorm& norm, float* states, int count) {
    each(count, [&](int row) {
      float* state = states + size_t(row) * config.d_model;
      norm(state, state, config.d_model);
      rows.set(row, state, config.d_model);
    });
  }

  // Rotates one row of all heads' queries or keys to the rotary position `position`.
  void turn_heads(float* heads, int position) const {
    const int pairs = config.head_width / 2;
    const float* cosines = model.cosines.data() + size_t(position) * pairs;
    const float* sines = model.sines.data() + size_t(position) * pairs;
    for (int h = 0; h < config.heads; ++h, heads += model.head) turn(heads, cosines, sines, pairs);
  }

  const Model<P>& model;
  const aya_config& config;
  Team team;
  int stride, narrow_stride;                 // floats from row to row of `wide` and `narrow`
  Buffer<float> wide, narrow, x, context;    // x: the rows' states between layers
  typename P::Rows rows, inner;              // the inputs of products
  std::vector<Buffer<float>> scores;         // attention weights, one buffer for each thread
};
