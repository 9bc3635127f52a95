/**
 * Which layers each stage holds, and which models the ranks of a tensor-parallel group can share out.
 *
 * <p>Imports the JDK, {@code dev.troupe.model} and {@code dev.troupe.model.spec}.
 */
package dev.troupe.partition;
