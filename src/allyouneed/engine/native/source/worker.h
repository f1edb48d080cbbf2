// One worker: threads and memory that encode a batch and decode it step by step.
#pragma once

#include "decoder.h"
#include "encoder.h"
#include "output_layer.h"

template <class P>
struct Worker {
  Worker(const Model<P>& model, int threads)
      : model(model), chunk(model, threads), encoder(chunk), decoder(chunk), output(chunk) {}
  Worker(const Worker&) = delete;  // its parts point to one another
  Worker& operator=(const Worker&) = delete;

  // If it fails, the worker has no batch.
  void encode(const aya_lists& sources) {
    decoder.drop();
    source.take(sources, model.config);
    decoder.take(encoder.run(sources, source), source);
  }

  const Model<P>& model;
  Chunk<P> chunk;
  Source source;
  Encoder<P> encoder;
  Decoder<P> decoder;
  OutputLayer<P> output;
  Selection<P> selection;
};
