/** Engines that know the shapes of tensors and the costs of kernels, and compute nothing. */
package dev.troupe.engine.structural;
