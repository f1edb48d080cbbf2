// The C interface over both precisions. See interface.h.

#include "interface.h"

#include "cpu.h"
#include "greedy.h"
#include "guard.h"
#include "layout.h"
#include "packing.h"
#include "request.h"
#include "search.h"
#include "term_search.h"
#include "walk.h"

static_assert(AYA_OK == kOk && AYA_FAILED == kFailed && AYA_MEMORY == kMemory);
static_assert(kErrorBytes == kTextBytes);

namespace {

// A worker and a model as the C interface uses them, without their precision.
struct AnyWorker {
  virtual ~AnyWorker() = default;
  virtual int32_t threads() const = 0;
  virtual void search(const aya_request&, aya_found&) = 0;
  virtual void begin(const aya_request&) = 0;
  virtual int32_t next() = 0;
  virtual void encode(const aya_lists& sources) = 0;
  virtual void start(int32_t hypotheses) = 0;
  virtual void step(int32_t rows, const int32_t* ids, float* logits) = 0;
  virtual void select(const int32_t* parents, int32_t count) = 0;
};

struct AnyModel {
  virtual ~AnyModel() = default;
  virtual void store(aya_move write) const = 0;
  virtual std::unique_ptr<AnyWorker> worker(int32_t threads) const = 0;
};

template <class P>
struct WorkerOf final : AnyWorker {
  WorkerOf(const Model<P>& model, int32_t threads) : worker(model, threads) {}

  int32_t threads() const override { return worker.chunk.team.size(); }

  void search(const aya_request& request, aya_found& found) override {
    walk.reset();
    const Request checked(request, worker.model.config);
    checked.check();
    checked.check(found);
    watch(request.attention);
    if (request.terms) return TermSearch<P>(worker, request.options).run(request, found);
    if constexpr (std::is_same_v<P, Int8>)
      if (Greedy::serves(request)) return Greedy(worker, request.options).run(request, found);
    if (!request.options.samples) return Search<P>(worker, request.options).run(request, found);
    const int samples = request.options.samples;
    Walk<P> samples_walk(worker, request);
    Interruption interruption(request.interrupted);
    while (samples_walk.running()) {
      interruption.check();
      samples_walk.step([&](int sentence, int sample, const Hypothesis& h) {
        report(h, h.score(1.0), sentence, sample, samples, worker.decoder,
               worker.source.lengths[sentence], found);
      });
    }
  }

  void begin(const aya_request& request) override {
    walk.reset();
    Request(request, worker.model.config).check();
    if (request.sources.count != 1 || request.options.samples != 1)
      throw std::invalid_argument("only one hypothesis of one sentence is read token by token");
    watch({-1, 0, nullptr});
    walk = std::make_unique<Walk<P>>(worker, request);
  }

  int32_t next() override {
    demand(walk != nullptr, "no search has begun");
    if (!walk->running()) return -1;
    std::unique_ptr<Walk<P>> begun = std::move(walk);  // a step that fails ends the search
    begun->step([](int, int, const Hypothesis&) {});
    walk = std::move(begun);
    return walk->newest();
  }

  void encode(const aya_lists& sources) override {
    walk.reset();
    check_lists("the sources", sources, worker.model.config.source_vocabulary);
    demand(sources.count >= 1, "there is no sentence");
    watch({-1, 0, nullptr});
    worker.encode(sources);
  }
  void start(int32_t count) override {
    walk.reset();
    demand(worker.decoder.sentences() > 0, "no batch has been encoded");
    if (count < 1 || int64_t(count) * worker.decoder.sentences() > kMostHypotheses)
      throw std::invalid_argument(std::to_string(count) + " hypotheses for each of " +
                                  std::to_string(worker.decoder.sentences()) + " sentences");
    worker.decoder.start(count);
  }
  void step(int32_t rows, const int32_t* ids, float* logits) override {
    walk.reset();
    demand(rows == 0 || (ids && logits), "no memory was given for ids or logits");
    if (rows != worker.decoder.rows())
      throw std::invalid_argument(std::to_string(rows) + " ids for " +
                                  std::to_string(worker.decoder.rows()) + " hypotheses");
    const size_t outputs = worker.model.output.outputs;
    worker.decoder.step(ids, [&](int first, int count) {
      worker.output.all(count, logits + first * outputs);
    });
  }
  void select(const int32_t* parents, int32_t count) override {
    walk.reset();
    demand(count == 0 || parents, "no memory was given for rows");
    if (count < 0 || count > kMostHypotheses)
      throw std::invalid_argument(std::to_string(count) + " hypotheses are not in 0 ... " +
                                  std::to_string(kMostHypotheses));
    worker.decoder.select(parents, count);
  }

  void watch(const aya_attention& attention) {
    std::vector<int32_t> heads;
    if (attention.head_count)
      heads.assign(attention.heads, attention.heads + attention.head_count);
    worker.decoder.watch(attention.layer, heads);
  }

  Worker<P> worker;
  std::unique_ptr<Walk<P>> walk;
};

template <class P>
struct ModelOf final : AnyModel {
  ModelOf(const aya_config& config, const Tensors& tensors, aya_move read, int64_t size)
      : model(config) {
    if (read) {
      demand(size >= 1, "there are no packed weights");
      model.arena.restore(size, [&](void* bytes, int64_t all) {
        demand(read(bytes, all), "the packed weights cannot be read");
      });
    }
    Packing<P>(model, tensors).run();
  }
  void store(aya_move write) const override {
    demand(write, "there is no function that writes");
    model.arena.store([&](void* bytes, int64_t size) {
      demand(write(bytes, size), "the packed weights cannot be written");
    });
  }
  std::unique_ptr<AnyWorker> worker(int32_t threads) const override {
    check_threads(threads);
    return std::make_unique<WorkerOf<P>>(model, threads);
  }

  Model<P> model;
};

AnyWorker& as_worker(void* worker) {
  demand(worker, "there is no worker");
  return *static_cast<AnyWorker*>(worker);
}

AnyModel& as_model(void* model) {
  demand(model, "there is no model");
  return *static_cast<AnyModel*>(model);
}

const aya_request& checked(const aya_request* request) {
  demand(request, "there is no request");
  return *request;
}

}  // namespace

extern "C" {

const char* aya_interface(void) { return INTERFACE; }

const char* aya_layout(void) {
  return lasting_text<layout>();
}

const char* aya_variant(void) { return VARIANT; }

const char* aya_features(void) {
  return lasting_text<features>();
}

const char* aya_units(void) {
#if defined(__AVX512VNNI__)
#if HAS_TILES
  if (may_use_tiles(kInt8Tiles)) return "AVX-512 VNNI, AMX";
#endif
  return "AVX-512 VNNI";
#elif defined(__AVXVNNI__)
  return "AVX-VNNI";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  return "NEON dot products, i8mm";
#elif defined(__ARM_FEATURE_DOTPROD)
  return "NEON dot products";
#else
  return "portable code";
#endif
}

void* aya_model_new(const aya_config* config, int32_t int8, aya_fetch fetch, char* error) {
  return aya_model_restored(config, int8, fetch, nullptr, 0, error);
}

void* aya_model_restored(const aya_config* config, int32_t int8, aya_fetch fetch, aya_move read,
                         int64_t size, char* error) {
  AnyModel* model = nullptr;
  guarded(error, [&] {
    demand(config, "there is no configuration");
    demand(fetch, "there is no function that fetches tensors");
    const Tensors tensors(fetch);
    model = int8 ? static_cast<AnyModel*>(new ModelOf<Int8>(*config, tensors, read, size))
                 : new ModelOf<Float32>(*config, tensors, read, size);
  });
  return model;
}

int32_t aya_model_store(void* model, aya_move write, char* error) {
  return guarded(error, [&] { as_model(model).store(write); });
}

void aya_model_free(void* model) { delete static_cast<AnyModel*>(model); }

void* aya_worker_new(void* model, int32_t threads, char* error) {
  AnyWorker* worker = nullptr;
  guarded(error, [&] { worker = as_model(model).worker(threads).release(); });
  return worker;
}

void aya_worker_free(void* worker) { delete static_cast<AnyWorker*>(worker); }

int32_t aya_worker_threads(void* worker) {
  return worker ? static_cast<AnyWorker*>(worker)->threads() : 0;
}

int32_t aya_search(void* worker, const aya_request* request, aya_found* found, char* error) {
  return guarded(error, [&] {
    demand(found, "no memory was given for hypotheses");
    as_worker(worker).search(checked(request), *found);
  });
}

int32_t aya_begin(void* worker, const aya_request* request, char* error) {
  return guarded(error, [&] { as_worker(worker).begin(checked(request)); });
}

int32_t aya_next(void* worker, int32_t* id, char* error) {
  return guarded(error, [&] {
    demand(id, "no memory was given for an id");
    *id = as_worker(worker).next();
  });
}

int32_t aya_encode(void* worker, const aya_lists* sources, char* error) {
  return guarded(error, [&] {
    demand(sources, "there are no sources");
    as_worker(worker).encode(*sources);
  });
}

int32_t aya_start(void* worker, int32_t hypotheses, char* error) {
  return guarded(error, [&] { as_worker(worker).start(hypotheses); });
}

int32_t aya_step(void* worker, int32_t rows, const int32_t* ids, float* logits, char* error) {
  return guarded(error, [&] { as_worker(worker).step(rows, ids, logits); });
}

int32_t aya_select(void* worker, int32_t rows, const int32_t* parents, char* error) {
  return guarded(error, [&] { as_worker(worker).select(parents, rows); });
}

}  // extern "C"
