/**
 * Lowering: from a plan that only computes to the whole step, a file a pass. The passes of a run follow from its grid, the
 * shares of its ranks, the tied table of its model, and recomputation ahead.
 */
package dev.troupe.schedule.lowering;
