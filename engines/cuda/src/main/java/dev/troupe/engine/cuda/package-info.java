/**
 * The engine of NVIDIA's GPUs: {@link dev.troupe.engine.cuda.CudaEngineProvider} opens it. Its kernels are written in CUDA C
 * (beside the Java sources, in {@code src/main/cuda}) and shipped as PTX, which the driver compiles for the GPU at hand.
 */
package dev.troupe.engine.cuda;
