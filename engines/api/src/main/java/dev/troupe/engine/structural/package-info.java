/**
 * Engines that know the shapes of tensors and the costs of kernels, and compute nothing.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.structural;
