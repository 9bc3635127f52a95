/**
 * The checks of the operands of every engine, {@link dev.troupe.engine.check.CheckedEngine}, with one set of messages.
 * Engines compute and check nothing.
 */
package dev.troupe.engine.check;
