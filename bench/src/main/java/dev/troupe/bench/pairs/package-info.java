/**
 * Which of two trainings is faster, run in turns: this tree against another commit, or against another program.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.config}, {@code dev.troupe.engine},
 * {@code dev.troupe.prepare}, {@code dev.troupe.publish}, {@code com.fasterxml.jackson} and {@code picocli}.
 */
package dev.troupe.bench.pairs;
