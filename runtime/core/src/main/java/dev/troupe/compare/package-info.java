/**
 * Experiments that compare schedules: each one predicted by the simulator and measured by a traced run, on the same model
 * and data.
 *
 * <p>Imports the JDK, {@code dev.troupe.config}, {@code dev.troupe.config.spec}, {@code dev.troupe.engine.provider},
 * {@code dev.troupe.model.spec}, {@code dev.troupe.observe}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol}, {@code dev.troupe.run}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.builder}, {@code dev.troupe.schedule.family}, {@code dev.troupe.schedule.idle},
 * {@code dev.troupe.schedule.simulator}, {@code dev.troupe.schedule.timeline} and {@code dev.troupe.transport}.
 */
package dev.troupe.compare;
