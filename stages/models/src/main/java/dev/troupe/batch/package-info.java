/**
 * The sequences of each step: which they are, in which order, and what of them counts in the loss.
 *
 * <p>Imports the JDK and {@code dev.troupe.data}.
 */
package dev.troupe.batch;
