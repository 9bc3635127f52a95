/**
 * The engine of NVIDIA's GPUs: {@link dev.troupe.engine.cuda.CudaEngineProvider} opens it. Its kernels are written in CUDA C
 * (beside the Java sources, in {@code src/main/cuda}) and shipped as PTX, which the driver compiles for the GPU at hand.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cuda.blas},
 * {@code dev.troupe.engine.cuda.device}, {@code dev.troupe.engine.cuda.driver}, {@code dev.troupe.engine.digest} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cuda;
