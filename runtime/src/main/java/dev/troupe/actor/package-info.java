/**
 * The actors of a run: coordinator, node, schedule and stage, each a thin shell. What they decide is decided in
 * {@code dev.troupe.machine}; what they compute is computed by a stage on a thread of its own, so that its actor always
 * answers. Tensors never enter a mailbox: they stand in the rank's {@link dev.troupe.actor.BoundaryTensors}.
 */
package dev.troupe.actor;
