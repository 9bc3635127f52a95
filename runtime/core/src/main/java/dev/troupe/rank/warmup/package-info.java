/**
 * The warm-up of a node: each kernel once, and a rank that it may take over, among other ranks that answer at once. This
 * package knows no actor, run directory or other process.
 */
package dev.troupe.rank.warmup;
