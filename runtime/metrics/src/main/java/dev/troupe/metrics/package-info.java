/** The meters of a run, in a registry of Micrometer, and as Prometheus' text. */
package dev.troupe.metrics;
