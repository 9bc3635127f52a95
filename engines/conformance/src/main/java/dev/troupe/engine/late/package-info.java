/** Engines for the tests of callers: one that computes late, as a device does, and wrappers of other engines. */
package dev.troupe.engine.late;
