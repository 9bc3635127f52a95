/**
 * What a stage computes on: {@link dev.troupe.engine.Tensor}, {@link dev.troupe.engine.Engine} and the
 * {@link dev.troupe.engine.EngineProvider} that opens one.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.engine;
