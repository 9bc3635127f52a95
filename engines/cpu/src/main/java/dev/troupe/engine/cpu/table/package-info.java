/**
 * The table of how fast libraries compute each form of product on this processor, and the choice that follows.
 */
package dev.troupe.engine.cpu.table;
