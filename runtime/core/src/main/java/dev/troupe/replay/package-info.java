/**
 * A step of a run, done again.
 *
 * <p>Imports the JDK, {@code dev.troupe.bisect}, {@code dev.troupe.bits}, {@code dev.troupe.checkpoint},
 * {@code dev.troupe.config}, {@code dev.troupe.observe}, {@code dev.troupe.output}, {@code dev.troupe.plan},
 * {@code dev.troupe.prepare}, {@code dev.troupe.protocol}, {@code dev.troupe.run} and {@code dev.troupe.transport}.
 */
package dev.troupe.replay;
