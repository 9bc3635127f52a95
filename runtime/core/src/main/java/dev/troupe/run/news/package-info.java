/**
 * The news of a run: what its actors report, to whom, and with which outcome; its event log, recoveries, hangs with the
 * drawing of a stall, spikes of the loss, patience with copies.
 */
package dev.troupe.run.news;
