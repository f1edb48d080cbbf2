/* The functions of the training kernels for Python. training/cpu/kernels.py mirrors the structures;
   a test compares the offset of every field with ayt_layout().

   Numbers are float32, or bfloat16 where `bf16` says so. Strides and sizes count elements.

   Functions return AYT_OK or the number of an error. They write the error's text to `error`, at most
   kErrorBytes including the final zero; null: nowhere. No sizes make them raise an exception or a
   signal, as long as every pointer is null or valid for the size that comes with it. */
#pragma once

#include <stdint.h>

enum { AYT_OK = 0, AYT_FAILED = 1, AYT_MEMORY = 2 };
enum { kErrorBytes = 512 };

typedef struct {
  int32_t bf16; /* y, narrowed and their gradients */
  int32_t width;
  int64_t rows;
  const float* gain;  /* [width] */
  const float* shift; /* [width]; unused by backward */
  float epsilon;
  uint64_t seed; /* of dropout */
  double rate;
  const float* x;  /* [rows][width], like all matrices below except moments and partial */
  const void* y;
  float* sum;      /* x + dropout(y) */
  float* wide;     /* the norm of sum, or null */
  void* narrowed;  /* the same in the dtype of y, or null */
  float* moments;  /* [rows][2]: mean and scale */
  const float* grad_sum;      /* the inputs of backward: gradients; null: there is none */
  const float* grad_wide;
  const void* grad_narrowed;
  float* grad_x;   /* the outputs of backward */
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
  const float* cosines;        /* of rotary positions, [positions][width / 2], or null */
  const float* sines;
  int32_t positions;
  uint64_t seed; /* of dropout */
  double rate;
  const void* q;
  int64_t q_stride;
  const void* k;
  const void* v;
  int64_t kv_stride;
  void* out; /* forward writes the results here; backward reads their gradient here */
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
  int32_t unit; /* the unit that multiplies, as numbered by ayt_best_unit(); unused by ayt_pack */
  int32_t bf16; /* ayt_pack: the matrix is bfloat16; ayt_multiply: the result is */
  const void* matrix; /* [rows][columns]; for ayt_multiply in bfloat16 */
  int64_t rows;
  int64_t columns;
  int32_t turned; /* 1: the factor is the matrix's transpose */
  void* blocks;   /* the right factor: ayt_pack writes it, ayt_multiply reads it */
  int64_t width;  /* columns of the result */
  const float* bias; /* [width], or null */
  float* sums;       /* receives the row sums of a turned left factor, or null */
  void* out;
} ayt_product_call;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char* ayt_interface(void); /* a digest of this file */
EXPORT const char* ayt_layout(void);    /* a line for each field: structure, field, offset, size */

EXPORT int32_t ayt_add_norm(const ayt_add_norm_call*, char* error);
EXPORT int32_t ayt_add_norm_backward(const ayt_add_norm_call*, char* error);
EXPORT int32_t ayt_attention(const ayt_attention_call*, char* error);
EXPORT int32_t ayt_attention_backward(const ayt_attention_call*, char* error);
EXPORT int32_t ayt_smoothed_loss(const ayt_loss_call*, char* error);
EXPORT int32_t ayt_r_drop_loss(const ayt_loss_call*, char* error);

/* The fastest unit for ayt_pack and ayt_multiply. If it is 0, both fail. */
EXPORT int32_t ayt_best_unit(void);
/* Packs a right factor into blocks. */
EXPORT int32_t ayt_pack(const ayt_product_call*, char* error);
/* Multiplies a matrix in bfloat16 by packed blocks. */
EXPORT int32_t ayt_multiply(const ayt_product_call*, char* error);
