"""Training on CPUs by native kernels: bfloat16 products, fused passes, batches without padding."""
