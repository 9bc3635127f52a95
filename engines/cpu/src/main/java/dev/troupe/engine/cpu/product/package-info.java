/**
 * Matrix products by the library that is chosen for their form: cut into panels, and in oneDNN with a right side that is
 * packed once.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cpu.kernel},
 * {@code dev.troupe.engine.cpu.library}, {@code dev.troupe.engine.cpu.loop}, {@code dev.troupe.engine.cpu.memory} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cpu.product;
