/**
 * The news of a run: the reports of its actors, their receivers, and the outcome. Event log, recoveries, drawings of stalls,
 * spikes of the loss, and the limit on waits for copies.
 */
package dev.troupe.run.news;
