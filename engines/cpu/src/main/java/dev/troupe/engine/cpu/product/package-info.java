/**
 * Matrix products by oneDNN: cut into panels, with a right side that is packed once.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cpu.kernel},
 * {@code dev.troupe.engine.cpu.library}, {@code dev.troupe.engine.cpu.loop} and {@code dev.troupe.engine.cpu.memory}.
 */
package dev.troupe.engine.cpu.product;
