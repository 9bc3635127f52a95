/**
 * The engine for NVIDIA's GPUs, opened by {@link dev.troupe.engine.cuda.CudaEngineProvider}. Its kernels are written in
 * CUDA C (in {@code src/main/cuda}) and shipped as PTX, which the driver compiles for the present GPU.
 */
package dev.troupe.engine.cuda;
