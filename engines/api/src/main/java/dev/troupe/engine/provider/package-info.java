/**
 * How an engine is found and opened: {@link dev.troupe.engine.provider.EngineProvider}, what it is asked for, and the
 * clock beside an engine that keeps time instead of computing.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.provider;
