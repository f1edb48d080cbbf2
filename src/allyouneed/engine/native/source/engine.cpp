// The C interface over both precisions. See interface.h.

#include "interface.h"

#include <cstdio>
#include <exception>

#include "greedy.h"
#include "search.h"

namespace {

// What the interface needs of a model and of a worker, whatever their precision.
struct AnyWorker {
  virtual ~AnyWorker() = default;
  virtual void search(int32_t count, const aya_lists& sources, const int32_t* limits,
                      const aya_lists* prefixes, const aya_lists* selection, const aya_options&,
                      aya_found&) = 0;
  virtual void encode(const aya_lists& sources, int32_t count) = 0;
  virtual void start(int32_t hypotheses) = 0;
  virtual void step(const int32_t* ids, float* logits) = 0;
  virtual void select(const std::vector<int32_t>& parents) = 0;
};

struct AnyModel {
  virtual ~AnyModel() = default;
  virtual std::unique_ptr<AnyWorker> worker(int32_t threads) const = 0;
};

template <class P>
struct WorkerOf final : AnyWorker {
  WorkerOf(const Model<P>& model, int32_t threads) : model(model), worker(model, threads) {}
  void search(int32_t count, const aya_lists& sources, const int32_t* limits,
              const aya_lists* prefixes, const aya_lists* selection, const aya_options& options,
              aya_found& found) override {
    if constexpr (std::is_same_v<P, Int8>)
      if (Greedy::serves(count, options, selection))
        return Greedy(worker, model, options).run(sources, limits[0], prefixes, found);
    Search<P>(worker, model, options).run(sources, count, limits, prefixes, selection, found);
  }
  void encode(const aya_lists& sources, int32_t count) override { worker.encode(sources, count); }
  void start(int32_t count) override { worker.start(count); }
  void step(const int32_t* ids, float* logits) override {
    worker.step(ids, [&](int first, int count) {
      worker.all_logits(count, logits + size_t(first) * model.config.vocabulary);
    });
  }
  void select(const std::vector<int32_t>& parents) override { worker.select(parents); }

  const Model<P>& model;
  Worker<P> worker;
};

template <class P>
struct ModelOf final : AnyModel {
  ModelOf(const aya_config& config, const Tensors& tensors) : model(config, tensors) {}
  std::unique_ptr<AnyWorker> worker(int32_t threads) const override {
    return std::make_unique<WorkerOf<P>>(model, threads);
  }

  Model<P> model;
};

// Runs what may throw; no exception crosses the C interface.
template <class Call>
int32_t guarded(char* error, const Call& call) {
  try {
    call();
    return AYA_OK;
  } catch (const std::bad_alloc&) {
    std::snprintf(error, kErrorBytes, "out of memory");
    return AYA_MEMORY;
  } catch (const NotFinite& e) {
    std::snprintf(error, kErrorBytes, "%s", e.what());
    return AYA_NOT_FINITE;
  } catch (const Stopped& e) {
    std::snprintf(error, kErrorBytes, "%s", e.what());
    return AYA_STOPPED;
  } catch (const std::exception& e) {
    std::snprintf(error, kErrorBytes, "%s", e.what());
    return AYA_FAILED;
  }
}

AnyWorker& as_worker(void* worker) { return *static_cast<AnyWorker*>(worker); }

}  // namespace

extern "C" {

int32_t aya_interface(void) { return AYA_INTERFACE; }

const char* aya_variant(void) { return VARIANT; }

const char* aya_units(void) {
#if defined(__AVX512VNNI__)
#if HAS_TILES
  if (may_use_tiles(kInt8Tiles)) return "AVX-512 VNNI, AMX";
#endif
  return "AVX-512 VNNI";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__ARM_FEATURE_DOTPROD)
  return "NEON dot products";
#else
  return "portable code";
#endif
}

void* aya_model_new(const aya_config* config, int32_t int8, int32_t count, const char* const* names,
                    const float* const* data, const int64_t* sizes, char* error) {
  AnyModel* model = nullptr;
  guarded(error, [&] {
    const Tensors tensors(count, names, data, sizes);
    model = int8 ? static_cast<AnyModel*>(new ModelOf<Int8>(*config, tensors))
                 : new ModelOf<Float32>(*config, tensors);
  });
  return model;
}

void aya_model_free(void* model) { delete static_cast<AnyModel*>(model); }

void* aya_worker_new(void* model, int32_t threads, char* error) {
  AnyWorker* worker = nullptr;
  guarded(error, [&] { worker = static_cast<AnyModel*>(model)->worker(threads).release(); });
  return worker;
}

void aya_worker_free(void* worker) { delete static_cast<AnyWorker*>(worker); }

int32_t aya_search(void* worker, int32_t sentences, const aya_lists* sources,
                   const int32_t* limits, const aya_lists* prefixes, const aya_lists* selection,
                   const aya_options* options, aya_found* found, char* error) {
  return guarded(error, [&] {
    as_worker(worker).search(sentences, *sources, limits, prefixes, selection, *options, *found);
  });
}

int32_t aya_encode(void* worker, int32_t sentences, const aya_lists* sources, char* error) {
  return guarded(error, [&] { as_worker(worker).encode(*sources, sentences); });
}

int32_t aya_start(void* worker, int32_t hypotheses, char* error) {
  return guarded(error, [&] { as_worker(worker).start(hypotheses); });
}

int32_t aya_step(void* worker, const int32_t* ids, float* logits, char* error) {
  return guarded(error, [&] { as_worker(worker).step(ids, logits); });
}

int32_t aya_select(void* worker, int32_t count, const int32_t* parents, char* error) {
  return guarded(error, [&] {
    as_worker(worker).select(std::vector<int32_t>(parents, parents + count));
  });
}

}  // extern "C"
