/** Digests of the bits of tensors. */
package dev.troupe.engine.digest;
