/**
 * The observation of a run: its listener, observers and outcome, the reports to them, its event log, recoveries, hangs with
 * the drawing of a stall, spikes of the loss, patience with copies, dumped gradients.
 *
 * <p>Imports the JDK, {@code dev.troupe.bits}, {@code dev.troupe.memory}, {@code dev.troupe.model},
 * {@code dev.troupe.plan},
 * {@code dev.troupe.protocol}, {@code dev.troupe.protocol.run}, {@code dev.troupe.protocol.watch},
 * {@code dev.troupe.schedule}, {@code dev.troupe.schedule.idle}, {@code dev.troupe.trace}, {@code dev.troupe.weights}
 * and {@code org.slf4j}.
 */
package dev.troupe.observe;
