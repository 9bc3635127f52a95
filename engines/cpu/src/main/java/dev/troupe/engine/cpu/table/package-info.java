/** The table of the libraries' speeds for each form of product on this processor, and the choice that follows. */
package dev.troupe.engine.cpu.table;
