/**
 * The way to an engine: {@link dev.troupe.engine.provider.EngineProvider} opens it, for the needs of a run, with a clock
 * beside an engine that does not compute.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.engine.check}.
 */
package dev.troupe.engine.provider;
