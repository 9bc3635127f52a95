/**
 * How an engine is found and opened: {@link dev.troupe.engine.provider.EngineProvider}, what it is asked for, and the
 * clock beside an engine that keeps time instead of computing.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.engine.check}.
 */
package dev.troupe.engine.provider;
