/**
 * Digests of the bits of tensors.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.digest;
