/**
 * An observer that measures an engine, kernel by kernel, and the processor time of the threads of a run.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.check} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.bench.profile;
