/* The engine's functions for Python, in plain C: no C++ type crosses this interface. bindings.py
   mirrors the structures; a test compares the offset of every field with aya_layout().

   Functions that can fail return AYA_OK or the number of an error, or null instead of a pointer.
   They write the error's text to `error`, at most kErrorBytes including the final zero; null: nowhere.
   No ids, sizes or options make them raise an exception or a signal, as long as every pointer is
   null or valid for the size that comes with it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { AYA_OK = 0, AYA_FAILED = 1, AYA_MEMORY = 2, AYA_NOT_FINITE = 3, AYA_STOPPED = 4 };
enum { kErrorBytes = 512 };

/* core/config.py's TransformerConfig. Flags are 0 or 1. */
typedef struct {
  int32_t vocabulary;
  int32_t source_vocabulary;
  int32_t d_model;
  int32_t heads;
  int32_t head_width;
  int32_t d_ff;
  int32_t encoder_layers;
  int32_t decoder_layers;
  int32_t max_positions;
  int32_t pre_norm;
  int32_t rms;
  int32_t activation; /* the index in config.py's Activation */
  int32_t rotary;
  int32_t normalise_embeddings;
  int32_t bias;
  int32_t tied_source; /* the encoder's embeddings are the decoder's */
  int32_t tied_output; /* the output layer's weights are the decoder's embeddings */
  int32_t pad;
  int32_t start;
  int32_t end;
  float norm_epsilon;
  float embedding_scale;
} aya_config;

/* Lists of ids, one after the other: list i is ids[offsets[i]] ... ids[offsets[i + 1] - 1]. */
typedef struct {
  int32_t count;          /* lists */
  int64_t size;           /* ids of all lists */
  const int32_t* ids;     /* [size] */
  const int64_t* offsets; /* [count + 1] */
} aya_lists;

/* How to search: BeamOptions of decoding/options.py, or SamplingOptions where `samples` > 0. */
typedef struct {
  int32_t beam;
  int32_t n_best; /* hypotheses of beam search to report for a sentence */
  int32_t min_length;
  int32_t no_repeat_ngram;
  int32_t loop_guard;
  int32_t stop_exact;
  int32_t stop_first;
  int32_t penalty_count;
  int32_t given;           /* the first `given` tokens of a prefix have log-probability 0 */
  const double* penalties; /* [penalty_count]: penalties[n] is lp(Y) for |Y| = n */
  int32_t samples;         /* 0: beam search */
  int32_t top_k;           /* 0: all */
  double top_p;
  double temperature;
  int64_t chance_count;
  const double* chances; /* [sentence][samples][room]: numbers in [0, 1); null: no draw, but argmax */
} aya_options;

/* Which cross-attention to report: the mean of these heads of one decoder layer. */
typedef struct {
  int32_t layer; /* -1: none */
  int32_t head_count;
  const int32_t* heads; /* [head_count] */
} aya_attention;

/* Terms that translations have to use: decoding/terms.py's WantedTerms. The terms of a sentence are
   counted from 0. A search with terms needs `attention`, which tells where they belong. */
typedef struct {
  aya_lists forms;         /* of all terms of all sentences: ids */
  const int32_t* term_of;  /* [form]: its term */
  const int64_t* forms_of; /* [sentence + 1]: sentence s has the forms forms_of[s] ... */
  aya_lists sources;       /* of each term of all sentences: numbers of tokens of the source */
  const int64_t* terms_of; /* [sentence + 1]: sentence s has the terms terms_of[s] ... */
  const uint8_t* edges;    /* [vocabulary]: 1 continues a word, plus 2: ends in a letter or digit */
} aya_terms;

/* The input of a search. A long search calls `interrupted` between two steps, several times a
   second, in the thread that searches. The search ends with AYA_STOPPED if the answer is not 0. */
typedef struct {
  aya_lists sources;
  const int32_t* limits;      /* [sentence]: the most tokens of its hypotheses; `interrupted` may
                                 lower them, which ends a beam search of the sentence */
  const aya_lists* prefixes;  /* the ids that each translation begins with, or null */
  const aya_lists* selection; /* the ids that each translation may contain, or null for all */
  aya_options options;
  aya_attention attention;
  const aya_terms* terms;       /* of beam search, or null */
  int32_t (*interrupted)(void); /* null: the search cannot be interrupted */
} aya_request;

/* The output of a search: for every sentence `many` places of `room` tokens. `many` is `samples` where
   that is above 0, and else `n_best`. A place without a hypothesis has length 0. */
typedef struct {
  int32_t room;
  int32_t source_room; /* where attention is wanted: at least the length of the longest source */
  int64_t places;      /* of all sentences, for which there is memory: at least sentences x many */
  int32_t* ids;        /* [sentence][many][room] */
  float* log_p;        /* [sentence][many][room] */
  int32_t* lengths;    /* [sentence][many] */
  double* scores;      /* [sentence][many] */
  float* attention;    /* [sentence][many][room][source_room], or null: not reported */
} aya_found;

/* Returns the number of numbers of the tensor `name`, or 0 if there is no such tensor or it cannot
   be read. Where `into` is not null, it also writes `count` numbers there, from number `first` on;
   they are whole rows of the tensor. */
typedef int64_t (*aya_fetch)(const char* name, int64_t first, int64_t count, float* into);

/* Reads `size` bytes of packed weights into `bytes`, or writes them. Returns 0 if it fails. */
typedef int32_t (*aya_move)(void* bytes, int64_t size);

const char* aya_interface(void); /* a digest of this file */
const char* aya_layout(void);    /* a line for each field: structure, field, offset, size */
const char* aya_variant(void);   /* the name of this library's variant */
const char* aya_units(void);     /* the processor's units that compute products */
const char* aya_features(void);  /* the processor's features, named as in /proc/cpuinfo */

void* aya_model_new(const aya_config*, int32_t int8, aya_fetch, char* error);
void aya_model_free(void* model);

/* `aya_model_store` hands all packed weights to `write`, one part after the other, so that a later
   `aya_model_restored` of the same library and model reads them instead of packing them again:
   `size` bytes by one call of `read`. Tensors that are not packed are fetched as ever. */
int32_t aya_model_store(void* model, aya_move write, char* error);
void* aya_model_restored(const aya_config*, int32_t int8, aya_fetch, aya_move read, int64_t size,
                         char* error);

/* A worker has threads and memory for one batch. It serves one call at a time; several workers may
   share a model. */
void* aya_worker_new(void* model, int32_t threads, char* error);
void aya_worker_free(void* worker);
int32_t aya_worker_threads(void* worker); /* the threads that run; may be fewer than asked for */

/* Searches a whole batch. */
int32_t aya_search(void* worker, const aya_request*, aya_found*, char* error);

/* Searches one sentence token by token: a beam of one or one sample. `aya_next` writes the next
   token's id, or -1 when the hypothesis is complete. An error, and any other function of the worker,
   ends the search. */
int32_t aya_begin(void* worker, const aya_request*, char* error);
int32_t aya_next(void* worker, int32_t* id, char* error);

/* The decoding protocol (decoding/protocol.py), for searches that are written in Python. */
int32_t aya_encode(void* worker, const aya_lists* sources, char* error);
int32_t aya_start(void* worker, int32_t hypotheses, char* error);
int32_t aya_step(void* worker, int32_t rows, const int32_t* ids, float* logits, char* error);
/* Row r continues the row that had number parents[r]; rows without a child are dropped. */
int32_t aya_select(void* worker, int32_t rows, const int32_t* parents, char* error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
