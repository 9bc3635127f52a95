/**
 * The contract of engines: {@link dev.troupe.engine.Tensor} and {@link dev.troupe.engine.Engine}.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.engine;
