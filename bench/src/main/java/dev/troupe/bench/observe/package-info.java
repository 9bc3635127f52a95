/**
 * The cost of what a run records, measured by leaving it out by turns within one run: an agent of the JVM puts a question
 * in front of the methods that record, so that nothing outside this package knows of it.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.bench.profile}, {@code dev.troupe.config},
 * {@code dev.troupe.observe}, {@code dev.troupe.output}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.run}, {@code dev.troupe.transport} and {@code picocli}.
 */
package dev.troupe.bench.observe;
