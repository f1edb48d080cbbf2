// The operations of a training step between its matrix products, and the products themselves where
// the processor has a unit for them. They run in torch's own threads. See interface.h.

#include "interface.h"

#include "add_norm.h"
#include "bounds.h"
#include "guard.h"
#include "heads.h"
#include "layout.h"
#include "products.h"
#include "smoothing.h"

static_assert(AYT_OK == kOk && AYT_FAILED == kFailed && AYT_MEMORY == kMemory);
static_assert(kErrorBytes == kTextBytes);

namespace {

template <class Call>
const Call& checked(const Call* call) {
  demand(call, "there is no call");
  return *call;
}

AddNorm add_norm_of(const ayt_add_norm_call& call) {
  return {call.rows, call.width, call.gain, call.shift, call.epsilon, {call.seed, call.rate}};
}

template <class T>
void add_norm(const ayt_add_norm_call& call) {
  add_norm_of(call).forward(call.x, static_cast<const T*>(call.y), call.sum, call.wide,
                            static_cast<T*>(call.narrowed), call.moments);
}

template <class T>
void add_norm_backward(const ayt_add_norm_call& call) {
  add_norm_of(call).backward(call.sum, call.moments, call.grad_sum, call.grad_wide,
                             static_cast<const T*>(call.grad_narrowed), call.grad_x,
                             static_cast<T*>(call.grad_y), call.partial, call.threads);
}

Heads heads_of(const ayt_attention_call& call) {
  return {call.sentences,  call.heads,  call.width, call.causal != 0, call.query_starts,
          call.key_starts, {call.cosines, call.sines}, {call.seed, call.rate}, call.rate > 0.0};
}

template <class T>
Rows<const T> rows_of(const void* first, int64_t stride) {
  return {static_cast<const T*>(first), stride};
}
template <class T>
Rows<T> rows_of(void* first, int64_t stride) {
  return {static_cast<T*>(first), stride};
}

template <class T>
void attend(const ayt_attention_call& call) {
  heads_of(call).forward<T>(rows_of<T>(call.q, call.q_stride), rows_of<T>(call.k, call.kv_stride),
                            rows_of<T>(call.v, call.kv_stride),
                            rows_of<T>(call.out, call.out_stride));
}

template <class T>
void attend_backward(const ayt_attention_call& call) {
  const void* grad_out = call.out;
  heads_of(call).backward<T>(
      rows_of<T>(call.q, call.q_stride), rows_of<T>(call.k, call.kv_stride),
      rows_of<T>(call.v, call.kv_stride), rows_of<T>(grad_out, call.out_stride),
      rows_of<T>(call.grad_q, call.grad_q_stride), rows_of<T>(call.grad_k, call.grad_kv_stride),
      rows_of<T>(call.grad_v, call.grad_kv_stride));
}

template <class T>
void smoothed(const ayt_loss_call& call) {
  smoothed_loss(static_cast<T*>(call.logits), call.rows, call.vocabulary, call.labels,
                call.smoothing, call.losses);
}

template <class T>
void r_drop(const ayt_loss_call& call) {
  r_drop_loss(static_cast<T*>(call.logits), call.rows, call.vocabulary, call.labels,
              call.smoothing, call.alpha, call.losses);
}

#if HAS_TILES
template <class T>
void pack(const ayt_product_call& call) {
  const Factor<T> factor{static_cast<const T*>(call.matrix), call.rows, call.columns, true,
                         call.turned != 0};
  factor.pack(static_cast<bfloat16*>(call.blocks));
}

template <class T>
void multiply(const ayt_product_call& call) {
  const Factor<bfloat16> left{static_cast<const bfloat16*>(call.matrix), call.rows, call.columns,
                              false, call.turned != 0};
  const int64_t height = call.turned ? call.columns : call.rows;
  const Product<T> product{Unit(call.unit),
                           left,
                           static_cast<const bfloat16*>(call.blocks),
                           call.bias,
                           call.sums,
                           height,
                           call.width,
                           static_cast<T*>(call.out)};
  product.multiply();
}
#endif

}  // namespace

const char* ayt_interface() { return INTERFACE; }

const char* ayt_layout() {
  return lasting_text<layout>();
}

int32_t ayt_add_norm(const ayt_add_norm_call* call, char* error) {
  return guarded(error, [&] {
    check_forward(checked(call));
    (call->bf16 ? add_norm<bfloat16> : add_norm<float>)(*call);
  });
}

int32_t ayt_add_norm_backward(const ayt_add_norm_call* call, char* error) {
  return guarded(error, [&] {
    check_backward(checked(call));
    (call->bf16 ? add_norm_backward<bfloat16> : add_norm_backward<float>)(*call);
  });
}

int32_t ayt_attention(const ayt_attention_call* call, char* error) {
  return guarded(error, [&] {
    check_attention(checked(call), false);
    (call->bf16 ? attend<bfloat16> : attend<float>)(*call);
  });
}

int32_t ayt_attention_backward(const ayt_attention_call* call, char* error) {
  return guarded(error, [&] {
    check_attention(checked(call), true);
    (call->bf16 ? attend_backward<bfloat16> : attend_backward<float>)(*call);
  });
}

int32_t ayt_smoothed_loss(const ayt_loss_call* call, char* error) {
  return guarded(error, [&] {
    check_loss(checked(call), 1);
    (call->bf16 ? smoothed<bfloat16> : smoothed<float>)(*call);
  });
}

int32_t ayt_r_drop_loss(const ayt_loss_call* call, char* error) {
  return guarded(error, [&] {
    check_loss(checked(call), 2);
    (call->bf16 ? r_drop<bfloat16> : r_drop<float>)(*call);
  });
}

int32_t ayt_best_unit() { return best_unit(); }

int32_t ayt_pack(const ayt_product_call* call, char* error) {
  return guarded(error, [&] {
    check_product(checked(call), best_unit());
#if HAS_TILES
    (call->bf16 ? pack<bfloat16> : pack<float>)(*call);
#endif
  });
}

int32_t ayt_multiply(const ayt_product_call* call, char* error) {
  return guarded(error, [&] {
    check_product(checked(call), best_unit());
    check_multiply(*call, best_unit());
#if HAS_TILES
    (call->bf16 ? multiply<bfloat16> : multiply<float>)(*call);
#endif
  });
}
