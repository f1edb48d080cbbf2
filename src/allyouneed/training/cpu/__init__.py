"""Training on CPUs with native kernels: bfloat16 products, fused passes, batches without
padding."""
