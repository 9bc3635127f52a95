/**
 * Lowering: the passes from a plan that only computes to the whole step, one file each. A run chooses its passes by its
 * grid, the shares of its ranks, tied tables, and recomputation ahead.
 */
package dev.troupe.schedule.lowering;
