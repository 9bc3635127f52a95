/**
 * The table of how fast libraries compute each form of product on this processor, and the choice that follows.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cpu.library}, {@code dev.troupe.engine.cpu.loop},
 * {@code dev.troupe.engine.cpu.product} and {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cpu.table;
