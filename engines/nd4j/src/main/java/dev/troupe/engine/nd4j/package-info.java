/**
 * The engine on ND4J 1.0.0-M2.1: {@code nd4j-native} by default, {@code nd4j-cuda} under the Maven profile of that name.
 *
 * <p>ND4J computes the parts of a kernel: matrix products through BLAS, element-wise operations, softmax, gather, scatter.
 * This package composes them, without automatic differentiation.
 */
package dev.troupe.engine.nd4j;
