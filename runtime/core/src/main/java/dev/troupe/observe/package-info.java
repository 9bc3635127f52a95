/**
 * The observation of a run: its listener, observers and outcome, the reports to them, its event log, recoveries, hangs with
 * the drawing of a stall, spikes of the loss, patience with copies, dumped gradients.
 */
package dev.troupe.observe;
