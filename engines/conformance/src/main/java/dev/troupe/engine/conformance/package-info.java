/**
 * What every engine must pass: {@link dev.troupe.engine.conformance.EngineConformance}, a test class that the module of
 * an engine extends, with the tables of kernels and shapes behind it.
 */
package dev.troupe.engine.conformance;
