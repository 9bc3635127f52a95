/**
 * The report of tests that did not run.
 */
package dev.troupe.engine.conformance.skipped;
