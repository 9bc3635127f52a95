/**
 * Tables, JSON and pages that a command leaves: of a comparison, of a disturbed run, of a schedule, of memory; and the
 * width of the terminal that they fit.
 *
 * <p>Imports the JDK, {@code dev.troupe.chaos}, {@code dev.troupe.compare}, {@code dev.troupe.config},
 * {@code dev.troupe.fault}, {@code dev.troupe.memory}, {@code dev.troupe.observe}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.certificate}, {@code dev.troupe.schedule.drawing}, {@code dev.troupe.schedule.simulator},
 * {@code dev.troupe.schedule.timeline} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.cli.report;
