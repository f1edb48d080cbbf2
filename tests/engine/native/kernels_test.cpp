// Exercises the training kernels through their C interface, to be run under sanitizers: calls in
// order, calls that must be refused, and memory that runs short. Prints "all" if all parts hold.
#include "scarce_memory.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "kernels/interface.h"

namespace {

char error[kErrorBytes];
int wrong = 0;

void expect(int32_t status, int32_t wanted, const char* what) {
  if (status == wanted && (status == AYT_OK || error[0])) return;
  std::fprintf(stderr, "%s: %d instead of %d: %s\n", what, status, wanted, error);
  ++wrong;
}

constexpr int kRows = 40, kWide = 24, kWords = 53;

struct AddNorm {
  AddNorm() {
    for (auto* each : {&gain, &shift}) each->assign(kWide, 0.5f);
    for (auto* each : {&x, &y, &sum, &wide, &narrowed, &grad, &grad_x, &grad_y})
      each->assign(kRows * kWide, 0.25f);
    moments.resize(2 * kRows);
    partial.assign(2 * 2 * kWide, 0.0f);
    call.width = kWide, call.rows = kRows, call.epsilon = 1e-5f, call.rate = 0.1, call.threads = 2;
    call.gain = gain.data(), call.shift = shift.data(), call.x = x.data(), call.y = y.data();
    call.sum = sum.data(), call.wide = wide.data(), call.narrowed = narrowed.data();
    call.moments = moments.data();
    call.grad_sum = call.grad_wide = grad.data(), call.grad_narrowed = grad.data();
    call.grad_x = grad_x.data(), call.grad_y = grad_y.data(), call.partial = partial.data();
  }
  std::vector<float> gain, shift, x, y, sum, wide, narrowed, moments, grad, grad_x, grad_y, partial;
  ayt_add_norm_call call = {};
};

void add_norms() {
  const auto both = [](auto change, int32_t forward, int32_t backward) {
    AddNorm one;
    change(one.call);
    expect(ayt_add_norm(&one.call, error), forward, "add_norm");
    expect(ayt_add_norm_backward(&one.call, error), backward, "add_norm_backward");
  };
  using Call = ayt_add_norm_call;
  both([](Call&) {}, AYT_OK, AYT_OK);
  both([](Call& c) { c.bf16 = 1; }, AYT_OK, AYT_OK);
  both([](Call& c) { c.rows = 0; }, AYT_OK, AYT_OK);
  both([](Call& c) { c.wide = nullptr, c.narrowed = nullptr; }, AYT_OK, AYT_OK);
  both([](Call& c) { c.grad_sum = c.grad_wide = nullptr; }, AYT_OK, AYT_OK);
  both([](Call& c) { c.width = 0; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.width = -3; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.rows = -1; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.rows = int64_t{1} << 61; }, AYT_FAILED, AYT_FAILED);
  for (const double rate : {1.0, -0.1, 7.0, std::nan("")})
    both([&](Call& c) { c.rate = rate; }, AYT_FAILED, AYT_FAILED);
  for (const int32_t threads : {0, -1, 1025, 1 << 30})
    both([&](Call& c) { c.threads = threads; }, AYT_OK, AYT_FAILED);
  both([](Call& c) { c.gain = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.sum = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.moments = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](Call& c) { c.shift = nullptr; }, AYT_FAILED, AYT_OK);
  both([](Call& c) { c.x = nullptr; }, AYT_FAILED, AYT_OK);
  both([](Call& c) { c.y = nullptr; }, AYT_FAILED, AYT_OK);
  both([](Call& c) { c.partial = nullptr; }, AYT_OK, AYT_FAILED);
  both([](Call& c) { c.grad_x = nullptr; }, AYT_OK, AYT_FAILED);
  both([](Call& c) { c.grad_y = nullptr; }, AYT_OK, AYT_FAILED);
  expect(ayt_add_norm(nullptr, error), AYT_FAILED, "no call");
  expect(ayt_add_norm_backward(nullptr, error), AYT_FAILED, "no call");
  AddNorm wordless;
  wordless.call.width = 0;
  expect(ayt_add_norm(&wordless.call, nullptr), AYT_FAILED, "no room for words");
}

struct Attention {
  static constexpr int kHeads = 3, kHead = 8, kRow = 3 * kHeads * kHead, kPositions = 24;
  Attention() {
    qkv.assign(kRows * kRow, 0.1f), grads.resize(kRows * kRow);
    out.resize(kRows * kHeads * kHead);
    table.assign(kPositions * kHead / 2, 0.7f);
    call.sentences = 3, call.heads = kHeads, call.width = kHead, call.causal = 1;
    call.query_starts = starts.data(), call.key_starts = starts.data();
    call.cosines = call.sines = table.data(), call.positions = kPositions, call.rate = 0.1;
    call.q = qkv.data(), call.k = qkv.data() + kHeads * kHead;
    call.v = qkv.data() + 2 * kHeads * kHead;
    call.q_stride = call.kv_stride = call.grad_q_stride = call.grad_kv_stride = kRow;
    call.out = out.data(), call.out_stride = kHeads * kHead;
    call.grad_q = grads.data(), call.grad_k = grads.data() + kHeads * kHead;
    call.grad_v = grads.data() + 2 * kHeads * kHead;
  }
  std::vector<int32_t> starts{0, 1, 20, 36};
  std::vector<float> qkv, grads, out, table;
  ayt_attention_call call = {};
};

void attentions() {
  const auto both = [](auto change, int32_t forward, int32_t backward) {
    Attention one;
    change(one);
    expect(ayt_attention(&one.call, error), forward, "attention");
    expect(ayt_attention_backward(&one.call, error), backward, "attention_backward");
  };
  using One = Attention;
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  both([](One&) {}, AYT_OK, AYT_OK);
  both([](One& o) { o.call.bf16 = 1; }, AYT_OK, AYT_OK);
  both([](One& o) { o.call.cosines = o.call.sines = nullptr, o.call.positions = 0; }, AYT_OK, AYT_OK);
  both([](One& o) { o.call.sentences = 0; }, AYT_OK, AYT_OK);
  both([](One& o) { o.call.sentences = -1; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.heads = 0; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.heads = kMost; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.width = -8; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.width = kMost; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.rate = 1.0; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.sines = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.positions = 18; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.query_starts = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.key_starts = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.starts[0] = -1; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.starts[1] = 30; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.starts[3] = kMost; }, AYT_FAILED, AYT_FAILED);
  for (const int64_t stride : {int64_t(0), int64_t(-72), int64_t(23), int64_t(1) << 60}) {
    both([&](One& o) { o.call.q_stride = stride; }, AYT_FAILED, AYT_FAILED);
    both([&](One& o) { o.call.kv_stride = stride; }, AYT_FAILED, AYT_FAILED);
    both([&](One& o) { o.call.out_stride = stride; }, AYT_FAILED, AYT_FAILED);
    both([&](One& o) { o.call.grad_q_stride = stride; }, AYT_OK, AYT_FAILED);
    both([&](One& o) { o.call.grad_kv_stride = stride; }, AYT_OK, AYT_FAILED);
  }
  both([](One& o) { o.call.q = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.k = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.v = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.out = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](One& o) { o.call.grad_q = nullptr; }, AYT_OK, AYT_FAILED);
  both([](One& o) { o.call.grad_k = nullptr; }, AYT_OK, AYT_FAILED);
  both([](One& o) { o.call.grad_v = nullptr; }, AYT_OK, AYT_FAILED);
  expect(ayt_attention(nullptr, error), AYT_FAILED, "no call");
  expect(ayt_attention_backward(nullptr, error), AYT_FAILED, "no call");
}

struct Loss {
  Loss() {
    logits.assign(2 * kRows * kWords, 0.3f), labels.assign(kRows, 7), losses.resize(kRows);
    call.vocabulary = kWords, call.rows = kRows, call.smoothing = 0.1f, call.alpha = 5.0f;
    call.logits = logits.data(), call.labels = labels.data(), call.losses = losses.data();
  }
  std::vector<float> logits, losses;
  std::vector<int64_t> labels;
  ayt_loss_call call = {};
};

void losses() {
  const auto both = [](auto change, int32_t wanted) {
    Loss one, other;
    change(one);
    change(other);
    expect(ayt_smoothed_loss(&one.call, error), wanted, "smoothed_loss");
    expect(ayt_r_drop_loss(&other.call, error), wanted, "r_drop_loss");
  };
  both([](Loss&) {}, AYT_OK);
  both([](Loss& l) { l.call.bf16 = 1; }, AYT_OK);
  both([](Loss& l) { l.call.rows = 0, l.call.logits = nullptr; }, AYT_OK);
  both([](Loss& l) { l.call.vocabulary = 0; }, AYT_FAILED);
  both([](Loss& l) { l.call.vocabulary = -5; }, AYT_FAILED);
  both([](Loss& l) { l.call.rows = -5; }, AYT_FAILED);
  both([](Loss& l) { l.call.rows = int64_t{1} << 60; }, AYT_FAILED);
  for (const int64_t label : {int64_t(-1), int64_t(kWords), int64_t(1) << 40})
    both([&](Loss& l) { l.labels.back() = label; }, AYT_FAILED);
  both([](Loss& l) { l.call.logits = nullptr; }, AYT_FAILED);
  both([](Loss& l) { l.call.labels = nullptr; }, AYT_FAILED);
  both([](Loss& l) { l.call.losses = nullptr; }, AYT_FAILED);
  expect(ayt_smoothed_loss(nullptr, error), AYT_FAILED, "no call");
  expect(ayt_r_drop_loss(nullptr, error), AYT_FAILED, "no call");
}

struct Product {
  static constexpr int kWidth = 40;  // of the result
  Product() {
    numbers.assign(kRows * kWide, 0), blocks.assign(4 * 1024, 0);
    out.resize(kRows * kWidth), sums.resize(kRows), bias.assign(kWidth, 0.5f);
    call.unit = ayt_best_unit(), call.matrix = numbers.data(), call.rows = kRows;
    call.columns = kWide, call.width = kWidth, call.blocks = blocks.data();
    call.bias = bias.data(), call.out = out.data();
  }
  std::vector<uint16_t> numbers, blocks;
  std::vector<float> out, sums, bias;
  ayt_product_call call = {};
};

void products() {
  const auto both = [](auto change, int32_t packed, int32_t multiplied) {
    const bool possible = ayt_best_unit() > 0;
    Product one;
    change(one);
    one.call.bf16 = 1;  // its matrix is
    expect(ayt_pack(&one.call, error), possible ? packed : int32_t{AYT_FAILED}, "pack");
    one.call.bf16 = 0;
    expect(ayt_multiply(&one.call, error), possible ? multiplied : int32_t{AYT_FAILED}, "multiply");
  };
  both([](Product&) {}, AYT_OK, AYT_OK);
  both([](Product& p) { p.call.turned = 1, p.call.sums = p.sums.data(); }, AYT_OK, AYT_OK);
  both([](Product& p) { p.call.rows = 0, p.call.matrix = nullptr; }, AYT_OK, AYT_OK);
  for (const int32_t unit : {0, -1, 3, 1 << 30})
    both([&](Product& p) { p.call.unit = unit; }, AYT_OK, AYT_FAILED);
  both([](Product& p) { p.call.unit = ayt_best_unit() + 1; }, AYT_OK, AYT_FAILED);
  both([](Product& p) { p.call.rows = -1; }, AYT_FAILED, AYT_FAILED);
  both([](Product& p) { p.call.columns = -1; }, AYT_FAILED, AYT_FAILED);
  both([](Product& p) { p.call.width = -1; }, AYT_OK, AYT_FAILED);
  both([](Product& p) { p.call.rows = int64_t{1} << 60; }, AYT_FAILED, AYT_FAILED);
  both([](Product& p) { p.call.width = int64_t{1} << 60; }, AYT_OK, AYT_FAILED);
  both([](Product& p) { p.call.sums = p.sums.data(); }, AYT_OK, AYT_FAILED);  // not turned
  both([](Product& p) { p.call.matrix = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](Product& p) { p.call.blocks = nullptr; }, AYT_FAILED, AYT_FAILED);
  both([](Product& p) { p.call.out = nullptr; }, AYT_OK, AYT_FAILED);
  expect(ayt_pack(nullptr, error), AYT_FAILED, "no call");
  expect(ayt_multiply(nullptr, error), AYT_FAILED, "no call");
}

// Every allocation of every kernel fails once.
template <class One, class Kernel>
void scarce(Kernel kernel) {
  One one;
  bool fell_short = false;
  const bool holds = with_scarce_memory([&] { return kernel(&one.call, error); }, [&](int32_t status) {
    fell_short |= status == AYT_MEMORY;
    return status == AYT_OK || status == AYT_MEMORY;
  });
  wrong += !holds || !fell_short;
}

}  // namespace

int main() {
  add_norms();
  attentions();
  losses();
  products();
  scarce<AddNorm>(ayt_add_norm);
  scarce<AddNorm>(ayt_add_norm_backward);
  scarce<Attention>(ayt_attention);
  scarce<Attention>(ayt_attention_backward);
  scarce<Loss>(ayt_smoothed_loss);
  scarce<Loss>(ayt_r_drop_loss);
  if (!wrong) std::puts("all");
  return wrong ? 1 : 0;
}
