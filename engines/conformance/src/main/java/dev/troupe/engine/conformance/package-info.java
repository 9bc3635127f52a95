/**
 * What every engine must pass: {@link dev.troupe.engine.conformance.EngineConformance}, a test class that the module of
 * an engine extends, with the tables of kernels and shapes behind it.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.digest}, {@code dev.troupe.engine.reference}
 * and {@code org.junit}.
 */
package dev.troupe.engine.conformance;
