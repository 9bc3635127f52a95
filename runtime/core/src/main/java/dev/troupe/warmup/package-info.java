/**
 * The warm-up of one rank: each kernel once, among other ranks that answer at once. No actor, directory of a run or
 * other process is known in this package.
 */
package dev.troupe.warmup;
