/**
 * Pictures of a step: terminal, CSV, SVG, Chrome trace. Each is a pure function of a timeline, predicted or measured.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.idle} and
 * {@code dev.troupe.schedule.timeline}.
 */
package dev.troupe.schedule.drawing;
