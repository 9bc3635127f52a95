/**
 * What happened when: the actions of a step with their times, whether predicted by the simulator or measured in a run.
 *
 * <p>Imports {@code dev.troupe.schedule} and the JDK only.
 */
package dev.troupe.schedule.timeline;
