/** Random numbers that follow from a counter and a key. */
package dev.troupe.engine.random;
