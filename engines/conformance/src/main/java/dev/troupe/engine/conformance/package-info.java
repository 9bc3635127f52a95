/**
 * What every engine must pass: {@link dev.troupe.engine.conformance.EngineConformance}, a test class that the module of
 * an engine extends, with the tables of kernels and shapes behind it. It imports the engine contract, the reference
 * engine and JUnit.
 */
package dev.troupe.engine.conformance;
