/**
 * The warm-up of one rank: each kernel once, among other ranks that answer at once. No actor, directory of a run or
 * other process is known in this package.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.collective}, {@code dev.troupe.config.group},
 * {@code dev.troupe.engine}, {@code dev.troupe.engine.check}, {@code dev.troupe.engine.provider},
 * {@code dev.troupe.group}, {@code dev.troupe.parallel}, {@code dev.troupe.plan}, {@code dev.troupe.protocol},
 * {@code dev.troupe.pulse}, {@code dev.troupe.schedule}, {@code dev.troupe.stage}, {@code dev.troupe.step} and
 * {@code dev.troupe.transport}.
 */
package dev.troupe.warmup;
