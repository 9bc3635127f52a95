/** Timelines: the actions of a step with their times, whether predicted by the simulator or measured in a run. */
package dev.troupe.schedule.timeline;
