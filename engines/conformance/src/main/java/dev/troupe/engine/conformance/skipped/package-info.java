/**
 * The report of tests that did not run.
 *
 * <p>Imports the JDK, {@code org.junit} and {@code org.opentest4j}.
 */
package dev.troupe.engine.conformance.skipped;
