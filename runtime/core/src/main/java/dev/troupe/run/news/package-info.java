/**
 * The news of a run: the reports of its actors, their receivers, and the outcome; its event log, recoveries, hangs with the
 * drawing of a stall, spikes of the loss, and the limit on waits for copies.
 */
package dev.troupe.run.news;
