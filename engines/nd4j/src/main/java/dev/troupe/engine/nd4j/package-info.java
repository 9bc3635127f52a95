/**
 * The engine on ND4J 1.0.0-M2.1: {@code nd4j-native} by default, {@code nd4j-cuda} under the Maven profile of that name.
 *
 * <p>ND4J computes what a kernel is composed of (matrix products through BLAS, element-wise operations, softmax, gather,
 * scatter); the composition is here, and no automatic differentiation is used.
 */
package dev.troupe.engine.nd4j;
