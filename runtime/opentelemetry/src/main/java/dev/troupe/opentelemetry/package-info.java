/**
 * The steps of a run as spans of OpenTelemetry.
 *
 * <p>Imports the JDK, {@code dev.troupe.observe}, {@code dev.troupe.protocol}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.idle} and {@code io.opentelemetry}.
 */
package dev.troupe.opentelemetry;
