/**
 * A peer of Troupe's benchmarks: GPT-2 in the eager operations of libtorch, called from Java. It imports libtorch and a
 * reader of JSON, and nothing of Troupe.
 */
package dev.troupe.peer;
