/** Tests of products by cuBLASLt, and a stand-in for the library. */
package dev.troupe.engine.cuda.blas;
