/**
 * Idle time: the times of a measured step, and for each time a rank was idle the cause, the rank and the action at its root.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.simulator} and
 * {@code dev.troupe.schedule.timeline}.
 */
package dev.troupe.schedule.idle;
