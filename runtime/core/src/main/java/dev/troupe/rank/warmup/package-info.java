/**
 * The warm-up of one rank: each kernel once, among other ranks that answer at once. This package knows no actor, run
 * directory or other process.
 */
package dev.troupe.rank.warmup;
