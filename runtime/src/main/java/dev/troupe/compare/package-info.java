/**
 * Experiments that compare schedules: each one predicted by the simulator and measured by a traced run, on the same model
 * and data. It imports {@code dev.troupe.run}, {@code dev.troupe.schedule} and {@code dev.troupe.config}.
 */
package dev.troupe.compare;
