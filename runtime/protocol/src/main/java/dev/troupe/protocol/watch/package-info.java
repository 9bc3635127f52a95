/**
 * The watches over a run: stalls, stragglers, the pace of steps, spikes of the loss. Their callers supply the measurements.
 */
package dev.troupe.protocol.watch;
