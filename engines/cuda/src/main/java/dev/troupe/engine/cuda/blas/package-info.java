/**
 * Matrix products by NVIDIA's cuBLASLt, where the machine has it: the library by the foreign function API, the search for
 * it, and the products of one engine by it.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cuda.device} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cuda.blas;
