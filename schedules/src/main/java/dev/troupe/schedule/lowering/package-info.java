/**
 * Lowering: from a plan that only computes to the whole step, a file a pass. The passes of a run follow from its grid, from
 * the shares of its ranks, from the tied table of its model, and from whether it recomputes ahead.
 */
package dev.troupe.schedule.lowering;
