/**
 * Matrix products by NVIDIA's cuBLASLt, if the machine has it: the library by the foreign function API, the search for it,
 * and the products of one engine.
 */
package dev.troupe.engine.cuda.blas;
