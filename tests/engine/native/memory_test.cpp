// The engine where memory runs short at any allocation: an error number comes back, and the worker
// works afterwards. To be run under sanitizers. Prints "all" if all parts hold.
#include "scarce_memory.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "interface.h"
#include "small_model.h"

namespace {

char error[kErrorBytes];

bool expected(int32_t status) { return status == AYA_OK || status == AYA_MEMORY; }

// A search of the worker, and whether it finds what an undisturbed worker finds.
struct Searched {
  Searched(void* worker, int beam, int layer) : worker(worker), batch({5, 33, 2}) {
    batch.request.options.beam = beam;
    batch.request.options.n_best = 1;
    batch.request.attention.layer = layer;
    run();
    ids = batch.found_ids;
  }
  int32_t run() { return aya_search(worker, &batch.request, &batch.found, error); }
  bool holds() { return run() == AYA_OK && batch.found_ids == ids; }

  void* worker;
  Batch batch;
  std::vector<int32_t> ids;
};

bool searches(void* worker) {
  for (const auto& [beam, layer] : {std::pair(1, -1), std::pair(4, 1)}) {
    Searched searched(worker, beam, layer);
    const auto run = [&] { return searched.run(); };
    const auto holds = [&](int32_t status) { return expected(status) && searched.holds(); };
    if (!with_scarce_memory(run, holds)) return false;
  }
  return true;
}

// Each step of the protocol may fail. The following ones are called all the same, and fail or not.
bool protocol(void* worker) {
  Batch batch({3, 40, 5}), other({1, 2});
  Searched searched(worker, 4, -1);
  std::vector<float> logits(6 * kVocabulary);
  const int32_t ids[] = {1, 1, 1, 1, 1, 1}, parents[] = {5, 0, 0, 3};
  const auto run = [&] {
    bool all = expected(aya_encode(worker, &other.request.sources, error));
    all &= expected(aya_encode(worker, &batch.request.sources, error));
    const int32_t started = aya_start(worker, 2, error);
    all &= expected(started) || started == AYA_FAILED;  // there may be no batch
    aya_step(worker, 6, ids, logits.data(), error);
    aya_select(worker, 4, parents, error);
    aya_step(worker, 4, ids, logits.data(), error);
    aya_step(worker, 6, ids, logits.data(), error);
    return all;
  };
  return with_scarce_memory(run, [&](bool all) { return all && searched.holds(); });
}

bool streams(void* worker) {
  Batch batch({6});
  batch.request.options.samples = 1;
  Searched searched(worker, 1, -1);
  const auto run = [&] {
    int32_t id = 0, status = aya_begin(worker, &batch.request, error);
    while (status == AYA_OK && id >= 0) status = aya_next(worker, &id, error);
    return status;
  };
  return with_scarce_memory(run, [&](int32_t s) { return expected(s) && searched.holds(); });
}

bool models(int int8) {
  const aya_config c = config();
  const auto run = [&] {
    void* model = aya_model_new(&c, int8, fetch, error);
    void* worker = model ? aya_worker_new(model, 3, error) : nullptr;
    aya_worker_free(worker);
    aya_model_free(model);
    return worker != nullptr || std::string(error) == "out of memory";
  };
  return with_scarce_memory(run, [](bool all) { return all; });
}

}  // namespace

int main() {
  bool all = with_scarce_memory([] { return aya_layout(); }, [](const char*) { return true; }) &&
             *aya_layout();
  for (const int int8 : {0, 1}) {
    all = all && models(int8);
    const aya_config c = config();
    void* model = aya_model_new(&c, int8, fetch, error);
    for (const int threads : {1, 2}) {
      void* worker = aya_worker_new(model, threads, error);
      if (!searches(worker) || !protocol(worker) || !streams(worker)) {
        std::fprintf(stderr, "int8=%d threads=%d: %s\n", int8, threads, error);
        all = false;
      }
      aya_worker_free(worker);
    }
    aya_model_free(model);
  }
  if (all) std::puts("all");
  return all ? 0 : 1;
}
