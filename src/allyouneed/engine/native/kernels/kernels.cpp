// What a training step does between its products of matrices, and those themselves where the
// processor has a unit for them, in torch's own threads.
//
// Numbers are float32, or bfloat16 where `bf16` says so. Strides and sizes count elements.

#include <omp.h>

static inline int thread() { return omp_get_thread_num(); }

#include "add_norm.h"
#include "heads.h"
#include "products.h"
#include "smoothing.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int32_t ayt_interface() { return 4; }

EXPORT void ayt_add_norm(int32_t bf16, int64_t rows, int32_t width, const float* gain,
                         const float* shift, float epsilon, uint64_t seed, double rate,
                         const float* x, const void* y, float* sum, float* wide, void* narrowed,
                         float* moments) {
  const AddNorm work{rows, width, gain, shift, epsilon, {seed, rate}};
  if (bf16)
    work.forward(x, (const bfloat16*)y, sum, wide, (bfloat16*)narrowed, moments);
  else
    work.forward(x, (const float*)y, sum, wide, (float*)narrowed, moments);
}

EXPORT void ayt_add_norm_backward(int32_t bf16, int64_t rows, int32_t width, const float* gain,
                                  const float* shift, float epsilon, uint64_t seed, double rate,
                                  const float* sum, const float* moments, const float* grad_sum,
                                  const float* grad_wide, const void* grad_narrowed, float* grad_x,
                                  void* grad_y, float* partial, int32_t threads) {
  const AddNorm work{rows, width, gain, shift, epsilon, {seed, rate}};
  if (bf16)
    work.backward(sum, moments, grad_sum, grad_wide, (const bfloat16*)grad_narrowed, grad_x,
                  (bfloat16*)grad_y, partial, threads);
  else
    work.backward(sum, moments, grad_sum, grad_wide, (const float*)grad_narrowed, grad_x,
                  (float*)grad_y, partial, threads);
}

template <class T>
static void attend(const Heads& work, const void* q, int64_t q_stride, const void* k, const void* v,
                   int64_t kv_stride, void* out, int64_t out_stride) {
  work.forward<T>({(const T*)q, q_stride}, {(const T*)k, kv_stride}, {(const T*)v, kv_stride},
                  {(T*)out, out_stride});
}

EXPORT void ayt_attention(int32_t bf16, int32_t sentences, int32_t heads, int32_t width,
                          int32_t causal, const int32_t* query_starts, const int32_t* key_starts,
                          const float* cos, const float* sin, uint64_t seed, double rate,
                          const void* q, int64_t q_stride, const void* k, const void* v,
                          int64_t kv_stride, void* out, int64_t out_stride) {
  const Heads work{sentences,  heads,        width,     causal != 0, query_starts,
                   key_starts, {cos, sin},   {seed, rate}, rate > 0.0};
  (bf16 ? attend<bfloat16> : attend<float>)(work, q, q_stride, k, v, kv_stride, out, out_stride);
}

template <class T>
static void attend_backward(const Heads& work, const void* q, int64_t q_stride, const void* k,
                            const void* v, int64_t kv_stride, const void* grad_out,
                            int64_t out_stride, void* grad_q, int64_t grad_q_stride, void* grad_k,
                            void* grad_v, int64_t grad_kv_stride) {
  work.backward<T>({(const T*)q, q_stride}, {(const T*)k, kv_stride}, {(const T*)v, kv_stride},
                   {(const T*)grad_out, out_stride}, {(T*)grad_q, grad_q_stride},
                   {(T*)grad_k, grad_kv_stride}, {(T*)grad_v, grad_kv_stride});
}

EXPORT void ayt_attention_backward(int32_t bf16, int32_t sentences, int32_t heads, int32_t width,
                                   int32_t causal, const int32_t* query_starts,
                                   const int32_t* key_starts, const float* cos, const float* sin,
                                   uint64_t seed, double rate, const void* q, int64_t q_stride,
                                   const void* k, const void* v, int64_t kv_stride,
                                   const void* grad_out, int64_t out_stride, void* grad_q,
                                   int64_t grad_q_stride, void* grad_k, void* grad_v,
                                   int64_t grad_kv_stride) {
  const Heads work{sentences,  heads,        width,     causal != 0, query_starts,
                   key_starts, {cos, sin},   {seed, rate}, rate > 0.0};
  (bf16 ? attend_backward<bfloat16> : attend_backward<float>)(
      work, q, q_stride, k, v, kv_stride, grad_out, out_stride, grad_q, grad_q_stride, grad_k,
      grad_v, grad_kv_stride);
}

EXPORT void ayt_smoothed_loss(int32_t bf16, void* logits, int64_t rows, int32_t vocabulary,
                              const int64_t* labels, float smoothing, float* losses) {
  if (bf16)
    smoothed_loss((bfloat16*)logits, rows, vocabulary, labels, smoothing, losses);
  else
    smoothed_loss((float*)logits, rows, vocabulary, labels, smoothing, losses);
}

EXPORT void ayt_r_drop_loss(int32_t bf16, void* logits, int64_t rows, int32_t vocabulary,
                            const int64_t* labels, float smoothing, float alpha, float* losses) {
  if (bf16)
    r_drop_loss((bfloat16*)logits, rows, vocabulary, labels, smoothing, alpha, losses);
  else
    r_drop_loss((float*)logits, rows, vocabulary, labels, smoothing, alpha, losses);
}

// The best unit for the two below; where there is none, they must not be called.
EXPORT int32_t ayt_best_unit() {
#if HAS_TILES
  return best_unit();
#else
  return 0;
#endif
}

// The blocks of a right factor: of the matrix, or of its transpose.
EXPORT void ayt_pack(int32_t bf16, const void* matrix, int64_t rows, int64_t columns,
                     int32_t turned, void* blocks) {
#if HAS_TILES
  if (bf16)
    Factor<bfloat16>{(const bfloat16*)matrix, rows, columns, true, turned != 0}.pack(
        (bfloat16*)blocks);
  else
    Factor<float>{(const float*)matrix, rows, columns, true, turned != 0}.pack((bfloat16*)blocks);
#endif
}

template <class T>
static void multiply(int32_t unit, const void* matrix, int64_t rows, int64_t columns, bool turned,
                     const void* right, int64_t width, const float* bias, float* sums, void* out) {
#if HAS_TILES
  const Factor<bfloat16> left{(const bfloat16*)matrix, rows, columns, false, turned};
  const int64_t height = turned ? columns : rows;
  Product<T>{Unit(unit), left, (const bfloat16*)right, bias, sums, height, width, (T*)out}.multiply();
#endif
}

// The product of a bfloat16 matrix, or of its transpose, with packed blocks of that many columns.
EXPORT void ayt_multiply(int32_t unit, int32_t bf16, const void* matrix, int64_t rows,
                         int64_t columns, int32_t turned, const void* right, int64_t width,
                         const float* bias, float* sums, void* out) {
  (bf16 ? multiply<bfloat16> : multiply<float>)(unit, matrix, rows, columns, turned != 0, right,
                                                width, bias, sums, out);
}
