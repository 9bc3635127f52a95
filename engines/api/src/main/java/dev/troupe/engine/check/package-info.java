/**
 * The checks in front of every engine: {@link dev.troupe.engine.check.CheckedEngine} holds the caller of a kernel to the
 * contract, with one set of sentences, so that engines compute and check nothing.
 */
package dev.troupe.engine.check;
