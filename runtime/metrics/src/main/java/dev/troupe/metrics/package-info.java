/**
 * The meters of a run, in a registry of Micrometer, and as Prometheus' text.
 *
 * <p>Imports the JDK, {@code dev.troupe.memory}, {@code dev.troupe.observe}, {@code dev.troupe.output},
 * {@code dev.troupe.page}, {@code dev.troupe.protocol}, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.idle} and
 * {@code io.micrometer}.
 */
package dev.troupe.metrics;
