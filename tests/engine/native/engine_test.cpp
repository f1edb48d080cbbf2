// Exercises the whole engine through its C interface, to be run under sanitizers: models of odd
// shapes in both precisions, every search, and requests that must be refused. Prints one word for
// every part that holds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "interface.h"
#include "small_model.h"

namespace {

std::vector<char> stored;

int32_t write_stored(void* bytes, int64_t size) {
  const char* from = static_cast<const char*>(bytes);
  stored.insert(stored.end(), from, from + size);
  return 1;
}

int32_t read_stored(void* bytes, int64_t size) {
  std::memcpy(bytes, stored.data(), size_t(size));
  return 1;
}

int32_t refuse(void*, int64_t) { return 0; }

char error[kErrorBytes];
int rounds = 8;  // of random selections; the program's argument asks for others

bool searches(void* worker) {
  const int32_t heads[] = {0, 2};
  for (int beam : {1, 4})
    for (int layer : {-1, 0, 1})
      for (const auto& lengths : {std::vector<int>{5}, std::vector<int>{9, 1, 40, 2, 33}}) {
        Batch batch(lengths);
        batch.request.options.beam = beam;
        batch.request.options.n_best = beam == 1 ? 1 : 3;
        batch.request.options.no_repeat_ngram = 2;
        batch.request.attention = {layer, 2, heads};
        if (aya_search(worker, &batch.request, &batch.found, error)) return false;
        if (batch.found_lengths[0] < 1) return false;
      }
  return true;
}

bool samples(void* worker) {
  Batch batch({4, 17, 3});
  batch.request.options.samples = 3;
  for (const double top_p : {1.0, 0.5}) {
    batch.request.options.top_p = top_p;
    batch.request.options.top_k = top_p < 1.0 ? 7 : 0;
    if (aya_search(worker, &batch.request, &batch.found, error)) return false;
  }
  return true;
}

bool selections(void* worker) {
  Batch batch({4, 6});
  std::vector<int32_t> ids{0, 1, 2, 9, 11, 0, 1, 2, 5, 40, 52};
  const std::vector<int64_t> offsets{0, 5, 11}, prefix_offsets{0, 1, 3};
  const std::vector<int32_t> prefix{9, 5, 40};
  const aya_lists selection{2, 11, ids.data(), offsets.data()};
  const aya_lists prefixes{2, 3, prefix.data(), prefix_offsets.data()};
  batch.request.selection = &selection;
  batch.request.prefixes = &prefixes;
  return !aya_search(worker, &batch.request, &batch.found, error) && batch.found_ids[0] == 9;
}

// Selections of random sizes, from one id to all of them, in every kind of search. Some prefixes have
// ids that their sentence's selection lacks. Every id after a prefix must be of the selection; a search
// that has no id left to choose is refused.
bool random_selections(void* worker) {
  uint32_t state = 5;
  int found = 0;
  const auto below = [&](int bound) {
    state = state * 1664525u + 1013904223u;
    return int(state >> 8) % bound;
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> lengths(1 + below(6));
    for (int& length : lengths) length = 1 + below(kPositions);
    Batch batch(lengths, 2 + below(20));
    batch.request.options.beam = below(2) ? 4 : 1;
    batch.request.options.n_best = 1;
    batch.request.options.samples = below(3) ? 0 : 1;
    batch.request.options.no_repeat_ngram = below(3);
    batch.request.options.top_k = below(5);
    std::vector<std::vector<bool>> may(lengths.size(), std::vector<bool>(kVocabulary));
    std::vector<int32_t> ids, prefix;
    std::vector<int64_t> offsets{0}, prefix_offsets{0};
    for (std::vector<bool>& mine : may) {
      const int share = 1 + below(kVocabulary);
      mine[below(kVocabulary)] = true;
      for (int id = 0; id < kVocabulary; ++id) mine[id] = mine[id] || below(kVocabulary) < share;
      for (int id = 0; id < kVocabulary; ++id)
        if (mine[id]) ids.push_back(id);
      if (below(2)) ids.push_back(ids.back());  // twice
      offsets.push_back(int64_t(ids.size()));
      if (below(3) == 0) prefix.push_back(below(kVocabulary));
      prefix_offsets.push_back(int64_t(prefix.size()));
    }
    const int32_t sentences = int32_t(lengths.size());
    const aya_lists selection{sentences, int64_t(ids.size()), ids.data(), offsets.data()};
    const aya_lists prefixes{sentences, int64_t(prefix.size()), prefix.data(),
                             prefix_offsets.data()};
    batch.request.selection = &selection;
    batch.request.prefixes = &prefixes;
    std::memset(error, 0, sizeof error);
    const int32_t status = aya_search(worker, &batch.request, &batch.found, error);
    if (status != AYA_OK && !error[0]) return false;
    if (status != AYA_OK) continue;
    ++found;
    for (int s = 0; s < sentences; ++s)
      for (int i = int(prefix_offsets[s + 1] - prefix_offsets[s]); i < batch.found_lengths[s]; ++i)
        if (!may[s][batch.found_ids[s * batch.room + i]]) return false;
  }
  return found > rounds / 4;
}

bool streams(void* worker) {
  Batch batch({6});
  batch.request.options.samples = 1;
  batch.request.options.chances = nullptr;
  if (aya_begin(worker, &batch.request, error)) return false;
  int32_t id = 0, count = 0;
  while (!aya_next(worker, &id, error) && id >= 0) ++count;
  return id == -1 && count > 0;
}

bool steps(void* worker) {
  Batch batch({3, 8, 5});
  std::vector<float> logits(6 * kVocabulary);
  const int32_t ids[] = {1, 1, 1, 1, 1, 1}, parents[] = {5, 0, 0, 3};
  return !aya_encode(worker, &batch.request.sources, error) && !aya_start(worker, 2, error) &&
         !aya_step(worker, 6, ids, logits.data(), error) &&
         !aya_select(worker, 4, parents, error) &&
         !aya_step(worker, 4, ids, logits.data(), error);
}

bool refused(void* worker) {
  int wrong = 0;
  const auto spoil = [&](auto change) {
    Batch batch({5, 7});
    change(batch);
    std::memset(error, 0, sizeof error);
    const int32_t status = aya_search(worker, &batch.request, &batch.found, error);
    wrong += status != AYA_FAILED || !error[0];
  };
  spoil([](Batch& b) { b.ids[0] = -1; });
  spoil([](Batch& b) { b.ids[3] = kVocabulary; });
  spoil([](Batch& b) { b.offsets[1] = 1000; });
  spoil([](Batch& b) { b.offsets[1] = -3; });
  spoil([](Batch& b) { b.request.sources.count = 0; });
  spoil([](Batch& b) { b.request.sources.count = -7; });
  spoil([](Batch& b) { b.limits[1] = 0; });
  spoil([](Batch& b) { b.limits[1] = 1 << 30; });
  spoil([](Batch& b) { b.found.room = 3; });
  spoil([](Batch& b) { --b.found.places; });
  spoil([](Batch& b) { b.found.places = -1; });
  spoil([](Batch& b) {  // chances enough, places too few
    b.request.options.n_best = 1, b.request.options.samples = 9;
    b.request.options.chances = nullptr;
  });
  spoil([](Batch& b) { b.request.options.beam = 0; });
  spoil([](Batch& b) { b.request.options.n_best = 1 << 20; });
  spoil([](Batch& b) { b.request.options.penalty_count = 2; });
  spoil([](Batch& b) { b.request.options.penalties = nullptr; });
  spoil([](Batch& b) { b.penalties[3] = HUGE_VAL; });
  spoil([](Batch& b) { b.request.sources.ids = nullptr; });
  spoil([](Batch& b) { b.request.sources.offsets = nullptr; });
  spoil([](Batch& b) { b.request.limits = nullptr; });
  spoil([](Batch& b) { b.found.ids = nullptr; });
  spoil([](Batch& b) { b.found.log_p = nullptr; });
  spoil([](Batch& b) { b.found.lengths = nullptr; });
  spoil([](Batch& b) { b.found.scores = nullptr; });
  spoil([](Batch& b) { b.request.attention.layer = 0, b.found.attention = nullptr; });
  spoil([](Batch& b) { b.request.attention.layer = 2; });
  spoil([](Batch& b) { b.request.attention = {0, 1, nullptr}; });
  spoil([](Batch& b) { b.request.attention.layer = 0, b.found.source_room = 2; });
  spoil([](Batch& b) { b.request.options.samples = 9; });
  spoil([](Batch& b) { b.request.options.samples = 1, b.request.options.temperature = 0.0; });
  const int32_t ids[] = {1, 1, 1}, parents[] = {0, 99};
  std::vector<float> logits(3 * kVocabulary);
  Batch batch({5});
  wrong += aya_encode(worker, &batch.request.sources, error) != AYA_OK;
  wrong += aya_start(worker, 0, error) != AYA_FAILED;
  wrong += aya_start(worker, 1 << 30, error) != AYA_FAILED;
  wrong += aya_step(worker, 3, ids, logits.data(), error) != AYA_FAILED;
  wrong += aya_select(worker, 2, parents, error) != AYA_FAILED;
  wrong += aya_select(worker, -1, parents, error) != AYA_FAILED;
  wrong += aya_select(worker, 1, nullptr, error) != AYA_FAILED;
  wrong += aya_step(worker, 1, nullptr, logits.data(), error) != AYA_FAILED;
  wrong += aya_step(worker, 1, ids, nullptr, error) != AYA_FAILED;
  const std::vector<int32_t> many((1 << 20) + 1, 0);
  wrong += aya_select(worker, int32_t(many.size()), many.data(), error) != AYA_FAILED;
  aya_config c = config();
  c.d_model = -4;
  wrong += aya_model_new(&c, 1, fetch, error) != nullptr;
  c = config();
  c.vocabulary = 1 << 24, c.d_model = 1 << 17;
  wrong += aya_model_new(&c, 0, fetch, error) != nullptr;
  c = config();
  c.end = kVocabulary;
  wrong += aya_model_new(&c, 0, fetch, error) != nullptr;
  c = config();
  c.heads = 2048, c.head_width = 1, c.max_positions = 1 << 20;
  wrong += aya_model_new(&c, 0, fetch, error) || !std::strstr(error, "attention weights");
  wrong += aya_model_new(nullptr, 0, fetch, error) != nullptr;
  c = config();
  wrong += aya_model_new(&c, 0, nullptr, error) != nullptr;
  return wrong == 0;
}

// Functions without their model, worker, request or results.
bool nothing_given(void* model, void* worker) {
  Batch batch({5});
  const aya_lists& sources = batch.request.sources;
  int32_t id = 0;
  int wrong = 0;
  wrong += aya_model_store(nullptr, refuse, error) != AYA_FAILED;
  wrong += aya_model_store(model, nullptr, error) != AYA_FAILED;
  for (const int32_t threads : {0, -1, 1025, 1 << 30})
    wrong += aya_worker_new(model, threads, error) != nullptr;
  wrong += aya_worker_new(nullptr, 1, error) != nullptr;
  wrong += aya_worker_threads(nullptr) != 0;
  wrong += aya_search(nullptr, &batch.request, &batch.found, error) != AYA_FAILED;
  wrong += aya_search(worker, nullptr, &batch.found, error) != AYA_FAILED;
  wrong += aya_search(worker, &batch.request, nullptr, error) != AYA_FAILED;
  wrong += aya_begin(nullptr, &batch.request, error) != AYA_FAILED;
  wrong += aya_begin(worker, nullptr, error) != AYA_FAILED;
  wrong += aya_next(nullptr, &id, error) != AYA_FAILED;
  wrong += aya_next(worker, nullptr, error) != AYA_FAILED;
  wrong += aya_encode(nullptr, &sources, error) != AYA_FAILED;
  wrong += aya_encode(worker, nullptr, error) != AYA_FAILED;
  wrong += aya_encode(worker, nullptr, nullptr) != AYA_FAILED;
  wrong += aya_start(nullptr, 1, error) != AYA_FAILED;
  wrong += aya_step(nullptr, 0, nullptr, nullptr, error) != AYA_FAILED;
  wrong += aya_select(nullptr, 0, nullptr, error) != AYA_FAILED;
  aya_model_free(nullptr);
  aya_worker_free(nullptr);
  return wrong == 0;
}

// More hypotheses than a batch may have: of samples, and of a beam.
bool too_many(void* worker) {
  constexpr int kSentences = 17;
  Batch batch(std::vector<int>(kSentences, 1), 1);
  const size_t places = size_t(kSentences) << 16;
  std::vector<int32_t> ids(places), lengths(places);
  std::vector<float> log_p(places);
  std::vector<double> scores(places);
  batch.found = {1,           0, int64_t(places), ids.data(), log_p.data(), lengths.data(),
                 scores.data(), nullptr};
  batch.request.options.chances = nullptr;
  batch.request.options.samples = 1 << 16;
  if (aya_search(worker, &batch.request, &batch.found, error) != AYA_FAILED) return false;
  batch.request.options.samples = 0;
  batch.request.options.beam = 1 << 16;
  return aya_search(worker, &batch.request, &batch.found, error) == AYA_FAILED;
}

// A batch that is refused leaves no batch behind, and none of its lengths.
bool failed_batch(void* worker) {
  const int32_t ids[] = {1, 1};
  std::vector<float> logits(2 * kVocabulary);
  Batch good({1, 2}), bad({kPositions, kPositions + 1});
  int wrong = 0;
  wrong += aya_encode(worker, &good.request.sources, error) != AYA_OK;
  wrong += aya_encode(worker, &bad.request.sources, error) != AYA_FAILED;
  wrong += aya_step(worker, 2, ids, logits.data(), error) != AYA_FAILED;
  wrong += aya_start(worker, 1, error) != AYA_FAILED;
  wrong += aya_encode(worker, &good.request.sources, error) != AYA_OK;
  wrong += aya_step(worker, 2, ids, logits.data(), error) != AYA_OK;
  return wrong == 0;
}

// Any other function ends a search that is read token by token.
bool other_functions_end_a_stream(void* worker) {
  Batch batch({6});
  batch.request.options.samples = 1;
  batch.request.options.chances = nullptr;
  const int32_t ids[] = {1, 1, 1}, parents[] = {0, 0, 0};
  std::vector<float> logits(3 * kVocabulary);
  int32_t id = 0;
  int wrong = 0;
  const auto ended_by = [&](auto call) {
    wrong += aya_begin(worker, &batch.request, error) != AYA_OK;
    wrong += call() != AYA_OK;
    wrong += aya_next(worker, &id, error) != AYA_FAILED;
  };
  ended_by([&] { return aya_start(worker, 3, error); });
  ended_by([&] { return aya_select(worker, 3, parents, error); });
  ended_by([&] { return aya_step(worker, 1, ids, logits.data(), error); });
  ended_by([&] { return aya_encode(worker, &batch.request.sources, error); });
  return wrong == 0;
}

// A caller that raises its limits in the middle of a search gets no more tokens than before.
int32_t* raised = nullptr;
int32_t raise_limit() {
  *raised = kPositions;
  return 0;
}

bool raised_limits(void* worker) {
  constexpr int kRoom = 30;
  for (int beam = 32; beam <= 1 << 13; beam *= 2) {  // until a search asks for an interruption
    Batch batch({kPositions}, kRoom);
    batch.request.options.beam = beam;
    batch.request.options.n_best = 1;
    batch.request.options.min_length = kPositions;
    batch.request.interrupted = raise_limit;
    raised = &batch.limits[0];
    if (aya_search(worker, &batch.request, &batch.found, error)) return false;
    if (batch.found_lengths[0] != kRoom) return false;
    if (batch.limits[0] == kPositions) return true;
  }
  return false;
}

// Tensors by which decoder layer 1 has a recurrence, which layer 0 lacks.
int64_t fetch_mixed(const char* name, int64_t first, int64_t count, float* into) {
  const std::string of(name), at = "decoder.layers.1.recurrence.";
  if (of.compare(0, at.size(), at)) return fetch(name, first, count, into);
  if (into) std::fill(into, into + count, 0.1f);
  return of == at + "W_f.bias" ? kModel : kModel * kModel;
}

// Tensors whose sizes are known, but which cannot be read.
int64_t fetch_nothing(const char* name, int64_t first, int64_t count, float* into) {
  return into ? -1 : fetch(name, first, count, into);
}

// Tensors of a model with one number in a state, and a hidden layer of kDeep.
constexpr int kDeep = (1 << 16) + 1;
int64_t fetch_deep(const char* name, int64_t, int64_t count, float* into) {
  const std::string of(name);
  const auto has = [&](const char* part) { return of.find(part) != std::string::npos; };
  if (into) std::fill(into, into + count, 0.1f);
  if (has("recurrence")) return 0;
  if (has("W_1") || has("W_2.weight")) return kDeep;
  if (has("table")) return kPositions;
  return has("tokens") || has("output") ? kVocabulary : 1;
}

// Logits so far apart that the log-probability of a forced token is not finite.
int64_t fetch_far_apart(const char* name, int64_t first, int64_t count, float* into) {
  const int64_t size = fetch(name, first, count, into);
  if (into && std::string(name) == "output.bias")
    for (int64_t i = 0; i < count; ++i) into[i] = first + i == 9 ? -3e38f : 3e38f;
  return size;
}

bool models(int int8) {
  int wrong = 0;
  aya_config c = config();
  wrong += aya_model_new(&c, int8, fetch_mixed, error) || !std::strstr(error, "recurrence");
  wrong += aya_model_new(&c, int8, fetch_nothing, error) != nullptr;
  c.heads = c.head_width = c.d_model = 1, c.d_ff = kDeep;
  void* deep = aya_model_new(&c, int8, fetch_deep, error);
  wrong += (deep == nullptr) != (int8 == 1);
  aya_model_free(deep);
  return wrong == 0;
}

// After an error no further token is computed.
bool failed_stream(int int8) {
  const aya_config c = config();
  void* model = aya_model_new(&c, int8, fetch_far_apart, error);
  void* worker = model ? aya_worker_new(model, 1, error) : nullptr;
  if (!worker) return false;
  Batch batch({6});
  const int32_t prefix[] = {9};
  const int64_t offsets[] = {0, 1};
  const aya_lists prefixes{1, 1, prefix, offsets};
  batch.request.prefixes = &prefixes;
  batch.request.options.samples = 1;
  int32_t id = 0;
  int wrong = 0;
  wrong += aya_begin(worker, &batch.request, error) != AYA_OK;
  wrong += aya_next(worker, &id, error) != AYA_NOT_FINITE;
  wrong += aya_next(worker, &id, error) != AYA_FAILED;
  aya_worker_free(worker);
  aya_model_free(model);
  return wrong == 0;
}

// A restored model stores the same bytes; bytes of another size, or none, are refused.
bool restores(const aya_config& c, int int8, void* model) {
  int wrong = 0;
  stored.clear();
  wrong += aya_model_store(model, refuse, error) != AYA_FAILED;
  wrong += aya_model_store(model, write_stored, error) != AYA_OK;
  const std::vector<char> first = stored;
  const int64_t size = int64_t(first.size());
  void* again = aya_model_restored(&c, int8, fetch, read_stored, size, error);
  if (!again) return false;
  stored.clear();
  wrong += aya_model_store(again, write_stored, error) != AYA_OK || stored != first;
  aya_model_free(again);
  for (const int64_t other : {size - 64, int64_t(0), int64_t(-1)})
    wrong += aya_model_restored(&c, int8, fetch, read_stored, other, error) != nullptr;
  wrong += aya_model_restored(&c, int8, fetch, refuse, size, error) != nullptr;
  stored.resize(first.size() + 64);
  wrong += aya_model_restored(&c, int8, fetch, read_stored, size + 64, error) != nullptr;
  return wrong == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) rounds = std::atoi(arguments[1]);
  bool all = true;
  for (const int int8 : {0, 1}) {
    if (!models(int8) || !failed_stream(int8)) {
      std::fprintf(stderr, "models or failed stream, int8=%d: %s\n", int8, error);
      all = false;
    }
    for (const int kind : {0, 1}) {
      aya_config c = config();
      if (kind) {
        c.pre_norm = c.rms = c.rotary = 1;
        c.activation = 1, c.tied_source = c.tied_output = 0, c.normalise_embeddings = 1;
      }
      void* model = aya_model_new(&c, int8, fetch, error);
      if (!model) {
        std::fprintf(stderr, "%s\n", error);
        return 1;
      }
      if (!restores(c, int8, model)) {
        std::fprintf(stderr, "restored, int8=%d kind=%d: %s\n", int8, kind, error);
        all = false;
      }
      for (const int threads : {1, 3}) {
        void* worker = aya_worker_new(model, threads, error);
        if (!worker) return 1;
        const std::map<std::string, bool> parts{
            {"searches", searches(worker)},     {"samples", samples(worker)},
            {"selections", selections(worker)}, {"random selections", random_selections(worker)},
            {"streams", streams(worker)},       {"steps", steps(worker)},
            {"refused", refused(worker)},       {"nothing given", nothing_given(model, worker)},
            {"too many", too_many(worker)},     {"failed batch", failed_batch(worker)},
            {"raised limits", raised_limits(worker)},
            {"ended streams", other_functions_end_a_stream(worker)}};
        for (const auto& part : parts)
          if (!part.second) {
            std::fprintf(stderr, "%s, int8=%d kind=%d threads=%d: %s\n", part.first.c_str(), int8,
                         kind, threads, error);
            all = false;
          }
        aya_worker_free(worker);
      }
      aya_model_free(model);
    }
  }
  if (all) std::puts("all");
  return all ? 0 : 1;
}
