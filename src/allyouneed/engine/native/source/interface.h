/* What the engine offers to Python (bindings.py mirrors it). Plain C: no type of C++ or of a
   library crosses it. Calls that can fail return 0, or the number of an error with its text in
   `error`, of which at most `kErrorBytes` are written. */
#pragma once

#include <stdint.h>

#define AYA_INTERFACE 2 /* raised with every change here */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { AYA_OK = 0, AYA_FAILED = 1, AYA_MEMORY = 2, AYA_NOT_FINITE = 3, AYA_STOPPED = 4 };
enum { kErrorBytes = 512 };

/* core/config.py's TransformerConfig; flags are 0 or 1. */
typedef struct {
  int32_t vocabulary, source_vocabulary, d_model, heads, head_width, d_ff;
  int32_t encoder_layers, decoder_layers, max_positions;
  int32_t pre_norm, rms, activation, rotary, normalise_embeddings, bias;
  int32_t pad, start, end;
  float norm_epsilon, embedding_scale;
} aya_config;

/* decoding/options.py's BeamOptions. `penalties[n]` is lp(Y) for |Y| = n. A search that lasts calls
   `interrupted` between two steps, a few times a second, in the thread that searches; it ends with
   AYA_STOPPED when the answer is not 0. Null: nobody interrupts. */
typedef struct {
  int32_t beam, n_best, min_length, no_repeat_ngram, loop_guard, stop_exact, stop_first;
  const double* penalties;
  int32_t (*interrupted)(void);
} aya_options;

/* Lists of ids, one behind the other: list i is ids[offsets[i]] ... ids[offsets[i + 1]]. */
typedef struct {
  const int32_t* ids;
  const int64_t* offsets;
} aya_lists;

/* What a search found: room for `n_best` hypotheses of `room` tokens for every sentence. Lengths of
   hypotheses that were not found are 0. */
typedef struct {
  int32_t* ids;          /* [sentence][n_best][room] */
  float* log_p;          /* [sentence][n_best][room] */
  int32_t* lengths;      /* [sentence][n_best] */
  double* scores;        /* [sentence][n_best] */
  int32_t room;
} aya_found;

int32_t aya_interface(void);
const char* aya_variant(void); /* of this library */
const char* aya_units(void);   /* what of the processor products run on */

void* aya_model_new(const aya_config*, int32_t int8, int32_t tensors, const char* const* names,
                    const float* const* data, const int64_t* sizes, char* error);
void aya_model_free(void* model);

/* A worker's memory and threads; one call at a time. Workers share the model. */
void* aya_worker_new(void* model, int32_t threads, char* error);
void aya_worker_free(void* worker);

/* Beam search over one batch. `limits[i]`: the most tokens of sentence i's hypotheses. `prefixes`
   and `selection` (ids that may come, ascending) may be null. */
int32_t aya_search(void* worker, int32_t sentences, const aya_lists* sources,
                   const int32_t* limits, const aya_lists* prefixes, const aya_lists* selection,
                   const aya_options*, aya_found*, char* error);

/* The decoding protocol (decoding/protocol.py), for searches that are written in Python. */
int32_t aya_encode(void* worker, int32_t sentences, const aya_lists* sources, char* error);
int32_t aya_start(void* worker, int32_t hypotheses, char* error);
int32_t aya_step(void* worker, const int32_t* ids, float* logits, char* error);
/* Row r goes on from what row parents[r] was; other rows are gone. */
int32_t aya_select(void* worker, int32_t rows, const int32_t* parents, char* error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
