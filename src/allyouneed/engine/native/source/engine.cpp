// The C interface over both precisions. See interface.h.

#include "interface.h"

#include <cstdio>
#include <exception>

#include "cpu.h"
#include "greedy.h"
#include "layout.h"
#include "packing.h"
#include "request.h"
#include "search.h"
#include "term_search.h"
#include "walk.h"

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
    if (!walk) throw std::invalid_argument("no search has begun");
    if (!walk->running()) return -1;
    walk->step([](int, int, const Hypothesis&) {});
    return walk->newest();
  }

  void encode(const aya_lists& sources) override {
    walk.reset();
    check_lists("the sources", sources, worker.model.config.source_vocabulary);
    if (sources.count < 1) throw std::invalid_argument("there is no sentence");
    watch({-1, 0, nullptr});
    worker.encode(sources);
  }
  void start(int32_t count) override {
    constexpr int64_t kMostRows = 1 << 20;
    if (count < 1 || int64_t(count) * worker.decoder.sentences() > kMostRows)
      throw std::invalid_argument(std::to_string(count) + " hypotheses for each of " +
                                  std::to_string(worker.decoder.sentences()) + " sentences");
    worker.decoder.start(count);
  }
  void step(int32_t rows, const int32_t* ids, float* logits) override {
    if (rows != worker.decoder.rows())
      throw std::invalid_argument(std::to_string(rows) + " ids for " +
                                  std::to_string(worker.decoder.rows()) + " hypotheses");
    const size_t outputs = worker.model.output.outputs;
    worker.decoder.step(ids, [&](int first, int count) {
      worker.output.all(count, logits + first * outputs);
    });
  }
  void select(const int32_t* parents, int32_t count) override {
    if (count < 0) throw std::invalid_argument("a negative number of rows");
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
      if (size < 1) throw std::invalid_argument("there are no packed weights");
      model.arena.restore(size, [&](void* bytes, int64_t all) {
        if (!read(bytes, all)) throw std::invalid_argument("the packed weights cannot be read");
      });
    }
    Packing<P>(model, tensors).run();
  }
  void store(aya_move write) const override {
    model.arena.store([&](void* bytes, int64_t size) {
      if (!write(bytes, size)) throw std::invalid_argument("the packed weights cannot be written");
    });
  }
  std::unique_ptr<AnyWorker> worker(int32_t threads) const override {
    constexpr int32_t kMostThreads = 1024;
    if (threads < 1 || threads > kMostThreads)
      throw std::invalid_argument(std::to_string(threads) + " threads are not in 1 ... 1024");
    return std::make_unique<WorkerOf<P>>(model, threads);
  }

  Model<P> model;
};

// Runs `call`, and turns an exception into its error number: no exception crosses the C interface.
template <class Call>
int32_t guarded(char* error, const Call& call) {
  const auto tell = [&](const char* text, int32_t number) {
    std::snprintf(error, kErrorBytes, "%s", text);
    return number;
  };
  try {
    call();
    return AYA_OK;
  } catch (const std::bad_alloc&) {
    return tell("out of memory", AYA_MEMORY);
  } catch (const std::length_error&) {
    return tell("out of memory", AYA_MEMORY);
  } catch (const NotFinite& e) {
    return tell(e.what(), AYA_NOT_FINITE);
  } catch (const Stopped& e) {
    return tell(e.what(), AYA_STOPPED);
  } catch (const std::exception& e) {
    return tell(e.what(), AYA_FAILED);
  } catch (...) {
    return tell("an unknown error", AYA_FAILED);
  }
}

AnyWorker& as_worker(void* worker) { return *static_cast<AnyWorker*>(worker); }

}  // namespace

extern "C" {

const char* aya_interface(void) { return INTERFACE; }

const char* aya_layout(void) {
  static const std::string text = layout();
  return text.c_str();
}

const char* aya_variant(void) { return VARIANT; }

const char* aya_features(void) {
  static const std::string names = features();
  return names.c_str();
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
    const Tensors tensors(fetch);
    model = int8 ? static_cast<AnyModel*>(new ModelOf<Int8>(*config, tensors, read, size))
                 : new ModelOf<Float32>(*config, tensors, read, size);
  });
  return model;
}

int32_t aya_model_store(void* model, aya_move write, char* error) {
  return guarded(error, [&] { static_cast<const AnyModel*>(model)->store(write); });
}

void aya_model_free(void* model) { delete static_cast<AnyModel*>(model); }

void* aya_worker_new(void* model, int32_t threads, char* error) {
  AnyWorker* worker = nullptr;
  guarded(error, [&] { worker = static_cast<AnyModel*>(model)->worker(threads).release(); });
  return worker;
}

void aya_worker_free(void* worker) { delete static_cast<AnyWorker*>(worker); }

int32_t aya_worker_threads(void* worker) { return as_worker(worker).threads(); }

int32_t aya_search(void* worker, const aya_request* request, aya_found* found, char* error) {
  return guarded(error, [&] { as_worker(worker).search(*request, *found); });
}

int32_t aya_begin(void* worker, const aya_request* request, char* error) {
  return guarded(error, [&] { as_worker(worker).begin(*request); });
}

int32_t aya_next(void* worker, int32_t* id, char* error) {
  return guarded(error, [&] { *id = as_worker(worker).next(); });
}

int32_t aya_encode(void* worker, const aya_lists* sources, char* error) {
  return guarded(error, [&] { as_worker(worker).encode(*sources); });
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
