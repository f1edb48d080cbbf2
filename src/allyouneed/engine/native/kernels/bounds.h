// Checks a call before anything is computed from it. Throws std::invalid_argument.
#pragma once

#include <climits>
#include <initializer_list>
#include <utility>

#include "guard.h"
#include "heads.h"
#include "interface.h"

// Refuses null pointers, by name.
inline void demand_memory(std::initializer_list<std::pair<const char*, const void*>> pointers) {
  for (const auto& [name, pointer] : pointers)
    if (!pointer) throw std::invalid_argument(std::string("no memory was given for ") + name);
}

inline void check_matrix(int64_t rows, int64_t columns) {
  constexpr int64_t kMostNumbers = int64_t{1} << 48;  // more than any memory holds
  demand(rows >= 0 && columns >= 0, "a size is negative");
  demand(rows <= kMostNumbers && (!columns || rows <= kMostNumbers / columns),
         "a matrix has more than 2^48 numbers");
}

inline void check_dropout(double rate) {
  demand(rate >= 0.0 && rate < 1.0, "the rate of dropout is not in [0, 1)");
}

inline void check_add_norm(const ayt_add_norm_call& call) {
  demand(call.width >= 1, "the width is not above 0");
  check_matrix(call.rows, call.width);
  check_dropout(call.rate);
}

inline void check_forward(const ayt_add_norm_call& call) {
  check_add_norm(call);
  if (call.rows)
    demand_memory({{"gain", call.gain}, {"shift", call.shift}, {"x", call.x}, {"y", call.y},
                   {"sum", call.sum}, {"moments", call.moments}});
}

inline void check_backward(const ayt_add_norm_call& call) {
  check_add_norm(call);
  check_threads(call.threads);
  demand_memory({{"partial", call.partial}});
  if (call.rows)
    demand_memory({{"gain", call.gain}, {"sum", call.sum}, {"moments", call.moments},
                   {"grad_x", call.grad_x}, {"grad_y", call.grad_y}});
}

// The rows of a matrix that holds all heads lie `stride` numbers apart.
inline void check_stride(const ayt_attention_call& call, int64_t rows, int64_t stride) {
  if (rows < 2) return;
  demand(stride >= int64_t(call.heads) * call.width, "rows lie closer than the heads are wide");
  check_matrix(rows, stride);
}

inline void check_attention(const ayt_attention_call& call, bool backward) {
  demand(call.sentences >= 0 && call.heads >= 1 && call.width >= 1,
         "a number of sentences or heads, or a width, is too small");
  demand(int64_t(call.sentences) * call.heads <= INT_MAX &&
             int64_t(call.heads) * call.width <= INT_MAX - kLanes,
         "there are too many heads");
  check_dropout(call.rate);
  demand(!call.cosines == !call.sines, "one table of rotary positions is missing");
  demand_memory({{"query_starts", call.query_starts}, {"key_starts", call.key_starts}});
  demand(call.query_starts[0] >= 0 && call.key_starts[0] >= 0, "a sentence begins before row 0");
  const auto whole = [](int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; };
  for (int b = 0; b < call.sentences; ++b) {
    const int64_t queries = int64_t(call.query_starts[b + 1]) - call.query_starts[b];
    const int64_t keys = int64_t(call.key_starts[b + 1]) - call.key_starts[b];
    demand(queries >= 0 && keys >= 0, "a sentence ends before it begins");
    const int64_t longest = std::max(queries, keys);
    demand(whole(longest) * whole(std::max<int64_t>(keys, call.width)) <= INT_MAX,
           "a sentence is too long");
    demand(!call.cosines || longest <= call.positions, "a sentence is longer than the rotary tables");
  }
  const int64_t queries = call.query_starts[call.sentences], keys = call.key_starts[call.sentences];
  check_stride(call, queries, call.q_stride);
  check_stride(call, queries, call.out_stride);
  check_stride(call, keys, call.kv_stride);
  if (queries) demand_memory({{"q", call.q}, {"out", call.out}});
  if (keys) demand_memory({{"k", call.k}, {"v", call.v}});
  if (!backward) return;
  check_stride(call, queries, call.grad_q_stride);
  check_stride(call, keys, call.grad_kv_stride);
  if (queries) demand_memory({{"grad_q", call.grad_q}});
  if (keys) demand_memory({{"grad_k", call.grad_k}, {"grad_v", call.grad_v}});
}

inline void check_loss(const ayt_loss_call& call, int64_t passes) {
  demand(call.vocabulary >= 1, "the vocabulary is empty");
  check_matrix(call.rows, call.vocabulary * passes);
  if (call.rows)
    demand_memory({{"logits", call.logits}, {"labels", call.labels}, {"losses", call.losses}});
  for (int64_t row = 0; row < call.rows; ++row)
    if (call.labels[row] < 0 || call.labels[row] >= call.vocabulary)
      throw std::invalid_argument("label " + std::to_string(call.labels[row]) +
                                  " is not in a vocabulary of " + std::to_string(call.vocabulary));
}

// For both products: `unit` is the fastest unit of the processor.
inline void check_product(const ayt_product_call& call, int32_t unit) {
  demand(unit > 0, "the processor has no unit for products in bfloat16");
  check_matrix(call.rows, call.columns);
  if (call.rows && call.columns) demand_memory({{"matrix", call.matrix}, {"blocks", call.blocks}});
}

inline void check_multiply(const ayt_product_call& call, int32_t unit) {
  demand(call.unit >= 1 && call.unit <= unit, "the processor has no such unit");
  const int64_t height = call.turned ? call.columns : call.rows;
  check_matrix(height, call.width);
  check_matrix(call.turned ? call.rows : call.columns, call.width);
  demand(!call.sums || call.turned, "only a turned factor has row sums");
  if (height && call.width) demand_memory({{"out", call.out}});
}
