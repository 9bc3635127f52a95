/**
 * Lowering: from a plan that only computes to the whole step, a file a pass. Which passes a run needs follows from its
 * grid and from what its ranks share out.
 *
 * <p>Imports the JDK and {@code dev.troupe.schedule}.
 */
package dev.troupe.schedule.lowering;
