/**
 * What Python's operators, look-ups, methods and formats make of the values of a template. Whatever repeats or grows
 * has a bound.
 */
package dev.troupe.chat.operation;
