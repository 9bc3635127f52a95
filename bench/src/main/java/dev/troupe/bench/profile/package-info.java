/**
 * An engine that measures another one, kernel by kernel, and the processor time of the threads of a run.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.bench.profile;
