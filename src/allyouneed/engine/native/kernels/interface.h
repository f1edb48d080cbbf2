/* What the kernels of training offer to Python (training/cpu/kernels.py mirrors the structures; a test
   compares every field's place with ayt_layout()).

   Numbers are float32, or bfloat16 where `bf16` says so. Strides and sizes count elements. Functions
   return 0, or 1 where memory is short. */
#pragma once

#include <stdint.h>

typedef struct {
  int32_t bf16; /* y, narrowed and their gradients */
  int32_t width;
  int64_t rows;
  const float* gain;  /* [width] */
  const float* shift; /* [width]; backward reads none */
  float epsilon;
  uint64_t seed; /* of dropout */
  double rate;
  const float* x;  /* [rows][width], as all below but the moments */
  const void* y;
  float* sum;      /* x + dropout(y) */
  float* wide;     /* the norm of sum, or null */
  void* narrowed;  /* the same in the dtype of y, or null */
  float* moments;  /* [rows][2]: mean and scale */
  const float* grad_sum;      /* the gradients that backward is given; null: there is none */
  const float* grad_wide;
  const void* grad_narrowed;
  float* grad_x;   /* and those that it computes */
  void* grad_y;
  float* partial;  /* [threads][2][width], zeros: the gradients of gain and shift */
  int32_t threads;
} ayt_add_norm_call;

typedef struct {
  int32_t bf16;
  int32_t sentences;
  int32_t heads;
  int32_t width; /* of a head */
  int32_t causal;
  const int32_t* query_starts; /* [sentences + 1] */
  const int32_t* key_starts;   /* [sentences + 1] */
  const float* cosines;        /* of rotary positions, or null */
  const float* sines;
  uint64_t seed; /* of dropout */
  double rate;
  const void* q;
  int64_t q_stride;
  const void* k;
  const void* v;
  int64_t kv_stride;
  void* out; /* the results; the gradient of them that backward is given */
  int64_t out_stride;
  void* grad_q; /* the gradients that backward computes */
  int64_t grad_q_stride;
  void* grad_k;
  void* grad_v;
  int64_t grad_kv_stride;
} ayt_attention_call;

typedef struct {
  int32_t bf16;
  int32_t vocabulary;
  int64_t rows;          /* of one pass */
  void* logits;          /* [rows][vocabulary], R-Drop's two passes one after the other */
  const int64_t* labels; /* [rows] */
  float smoothing;
  float alpha;   /* of R-Drop */
  float* losses; /* [rows] */
} ayt_loss_call;

typedef struct {
  int32_t unit; /* what multiplies, as ayt_best_unit() has it; packing takes none */
  int32_t bf16; /* packing: the matrix; multiplying: the result */
  const void* matrix; /* [rows][columns]; multiplying: in bfloat16 */
  int64_t rows;
  int64_t columns;
  int32_t turned; /* take the matrix's transpose */
  void* blocks;   /* of the right factor: packing writes them, multiplying reads them */
  int64_t width;  /* columns of the result */
  const float* bias; /* [width], or null */
  float* sums;       /* of a turned left factor's rows, or null */
  void* out;
} ayt_product_call;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char* ayt_interface(void); /* a digest of this file */
EXPORT const char* ayt_layout(void);    /* a line for each field: structure, field, offset, size */

EXPORT int32_t ayt_add_norm(const ayt_add_norm_call*);
EXPORT int32_t ayt_add_norm_backward(const ayt_add_norm_call*);
EXPORT int32_t ayt_attention(const ayt_attention_call*);
EXPORT int32_t ayt_attention_backward(const ayt_attention_call*);
EXPORT int32_t ayt_smoothed_loss(const ayt_loss_call*);
EXPORT int32_t ayt_r_drop_loss(const ayt_loss_call*);

/* The best unit for the two below. Where it is 0 they must not be called. */
EXPORT int32_t ayt_best_unit(void);
/* The blocks of a right factor. */
EXPORT int32_t ayt_pack(const ayt_product_call*);
/* The product of a matrix in bfloat16 with packed blocks. */
EXPORT int32_t ayt_multiply(const ayt_product_call*);
