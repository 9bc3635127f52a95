/**
 * The actors of a run: coordinator, node, schedule and stage, each a thin shell. What they decide is decided in
 * {@code dev.troupe.protocol}; what they compute is computed by a stage on a thread of its own, so that its actor always
 * answers. Tensors never enter a mailbox: they stand in the rank's {@link dev.troupe.actor.BoundaryTensors}.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.collective}, {@code dev.troupe.config.fault},
 * {@code dev.troupe.config.group}, {@code dev.troupe.data}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.fault}, {@code dev.troupe.observe}, {@code dev.troupe.parallel},
 * {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.checkpoint}, {@code dev.troupe.protocol.membership}, {@code dev.troupe.protocol.rank},
 * {@code dev.troupe.protocol.replica}, {@code dev.troupe.protocol.run}, {@code dev.troupe.protocol.watch},
 * {@code dev.troupe.pulse}, {@code dev.troupe.schedule}, {@code dev.troupe.shard}, {@code dev.troupe.snapshot},
 * {@code dev.troupe.stage}, {@code dev.troupe.step}, {@code dev.troupe.transport}, {@code dev.troupe.warmup},
 * {@code dev.troupe.weights}, {@code org.apache.pekko} and {@code org.slf4j}.
 */
package dev.troupe.actor;
