/** The steps of a run as spans of OpenTelemetry. */
package dev.troupe.opentelemetry;
