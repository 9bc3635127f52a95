/**
 * How a stage is shared out over the ranks of a tensor-parallel group: the group as layers see it, and what part of each
 * tensor a rank holds.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.parallel;
