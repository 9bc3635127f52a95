/** The report of skipped tests. */
package dev.troupe.engine.conformance.skipped;
