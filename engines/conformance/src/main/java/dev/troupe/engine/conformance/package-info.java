/**
 * The test suite of every engine: {@link dev.troupe.engine.conformance.EngineConformance}, which the module of an engine
 * extends, and its cases of kernels and shapes.
 */
package dev.troupe.engine.conformance;
