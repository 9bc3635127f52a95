/**
 * The actors of a run: coordinator, node, group, schedule and stage. The machines in {@code dev.troupe.protocol} make the
 * decisions; the stage actors of a rank compute, on the rank's thread. Tensors never enter a mailbox: they are kept in the
 * rank's {@link dev.troupe.rank.RankTensors}.
 */
package dev.troupe.run.actor;
