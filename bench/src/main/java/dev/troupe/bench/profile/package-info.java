/**
 * An engine that measures another one, kernel by kernel, and the processor time of the threads of a run.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.forward} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.bench.profile;
