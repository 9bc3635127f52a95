/**
 * The digests of a run on disk, and the comparison of two runs: the first output in which they part.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.bits}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.model}, {@code dev.troupe.partition}, {@code dev.troupe.plan},
 * {@code dev.troupe.prepare}, {@code dev.troupe.stage} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.bisect;
