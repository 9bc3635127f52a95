/**
 * Timelines: the actions of a step with their times, whether predicted by the simulator or measured in a run.
 *
 * <p>Imports the JDK and {@code dev.troupe.schedule}.
 */
package dev.troupe.schedule.timeline;
