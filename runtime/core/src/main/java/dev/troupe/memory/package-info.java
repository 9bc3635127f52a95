/**
 * What a run takes in memory, known before it starts: its rows with its stages, on an engine that counts bytes.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.config.group}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.engine.structural}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.parallel}, {@code dev.troupe.plan}, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.rank},
 * {@code dev.troupe.protocol.replica}, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.certificate},
 * {@code dev.troupe.snapshot}, {@code dev.troupe.stage} and {@code dev.troupe.step}.
 */
package dev.troupe.memory;
