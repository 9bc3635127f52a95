/**
 * What a rank has around it while it warms up: other ranks that are not there, and yet answer at once. Nothing here knows
 * actors, the directory of a run, or another process.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.collective}, {@code dev.troupe.config.group},
 * {@code dev.troupe.engine}, {@code dev.troupe.engine.provider}, {@code dev.troupe.parallel}, {@code dev.troupe.plan},
 * {@code dev.troupe.protocol}, {@code dev.troupe.pulse}, {@code dev.troupe.schedule}, {@code dev.troupe.stage},
 * {@code dev.troupe.step} and {@code dev.troupe.transport}.
 */
package dev.troupe.warmup;
