// The offset and size of each field of interface.h's structures, as text. A test compares
// training/cpu/kernels.py with it.
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
  FIELD(ayt_add_norm_call, bf16);
  FIELD(ayt_add_norm_call, width);
  FIELD(ayt_add_norm_call, rows);
  FIELD(ayt_add_norm_call, gain);
  FIELD(ayt_add_norm_call, shift);
  FIELD(ayt_add_norm_call, epsilon);
  FIELD(ayt_add_norm_call, seed);
  FIELD(ayt_add_norm_call, rate);
  FIELD(ayt_add_norm_call, x);
  FIELD(ayt_add_norm_call, y);
  FIELD(ayt_add_norm_call, sum);
  FIELD(ayt_add_norm_call, wide);
  FIELD(ayt_add_norm_call, narrowed);
  FIELD(ayt_add_norm_call, moments);
  FIELD(ayt_add_norm_call, grad_sum);
  FIELD(ayt_add_norm_call, grad_wide);
  FIELD(ayt_add_norm_call, grad_narrowed);
  FIELD(ayt_add_norm_call, grad_x);
  FIELD(ayt_add_norm_call, grad_y);
  FIELD(ayt_add_norm_call, partial);
  FIELD(ayt_add_norm_call, threads);
  FIELD(ayt_attention_call, bf16);
  FIELD(ayt_attention_call, sentences);
  FIELD(ayt_attention_call, heads);
  FIELD(ayt_attention_call, width);
  FIELD(ayt_attention_call, causal);
  FIELD(ayt_attention_call, query_starts);
  FIELD(ayt_attention_call, key_starts);
  FIELD(ayt_attention_call, cosines);
  FIELD(ayt_attention_call, sines);
  FIELD(ayt_attention_call, positions);
  FIELD(ayt_attention_call, seed);
  FIELD(ayt_attention_call, rate);
  FIELD(ayt_attention_call, q);
  FIELD(ayt_attention_call, q_stride);
  FIELD(ayt_attention_call, k);
  FIELD(ayt_attention_call, v);
  FIELD(ayt_attention_call, kv_stride);
  FIELD(ayt_attention_call, out);
  FIELD(ayt_attention_call, out_stride);
  FIELD(ayt_attention_call, grad_q);
  FIELD(ayt_attention_call, grad_q_stride);
  FIELD(ayt_attention_call, grad_k);
  FIELD(ayt_attention_call, grad_v);
  FIELD(ayt_attention_call, grad_kv_stride);
  FIELD(ayt_loss_call, bf16);
  FIELD(ayt_loss_call, vocabulary);
  FIELD(ayt_loss_call, rows);
  FIELD(ayt_loss_call, logits);
  FIELD(ayt_loss_call, labels);
  FIELD(ayt_loss_call, smoothing);
  FIELD(ayt_loss_call, alpha);
  FIELD(ayt_loss_call, losses);
  FIELD(ayt_product_call, unit);
  FIELD(ayt_product_call, bf16);
  FIELD(ayt_product_call, matrix);
  FIELD(ayt_product_call, rows);
  FIELD(ayt_product_call, columns);
  FIELD(ayt_product_call, turned);
  FIELD(ayt_product_call, blocks);
  FIELD(ayt_product_call, width);
  FIELD(ayt_product_call, bias);
  FIELD(ayt_product_call, sums);
  FIELD(ayt_product_call, out);
#undef FIELD
  return text;
}
