/**
 * Pictures of a step: terminal, CSV, SVG, Chrome trace. Each is a pure function of a timeline, and does not care whether it
 * was predicted or measured.
 *
 * <p>Imports {@code dev.troupe.schedule}, {@code dev.troupe.schedule.timeline} and the JDK only.
 */
package dev.troupe.schedule.drawing;
