/**
 * Matrix products by NVIDIA's cuBLASLt, where the machine has it: the library by the foreign function API, the search for
 * it, and the products of one engine by it.
 */
package dev.troupe.engine.cuda.blas;
