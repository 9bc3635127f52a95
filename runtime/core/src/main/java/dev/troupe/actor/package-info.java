/**
 * The actors of a run: coordinator, node, group, schedule and stage. The decisions are those of the machines in
 * {@code dev.troupe.protocol}; the stage actors of a rank compute, on the rank's thread. Tensors never enter a mailbox:
 * they are kept in the rank's {@link dev.troupe.rank.RankTensors}.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor.supervision}, {@code dev.troupe.bits}, {@code dev.troupe.checkpoint},
 * {@code dev.troupe.config.group}, {@code dev.troupe.engine.provider}, {@code dev.troupe.fault},
 * {@code dev.troupe.observe}, {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.checkpoint}, {@code dev.troupe.protocol.membership}, {@code dev.troupe.protocol.node},
 * {@code dev.troupe.protocol.rank}, {@code dev.troupe.protocol.replica}, {@code dev.troupe.protocol.run},
 * {@code dev.troupe.protocol.watch}, {@code dev.troupe.rank}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.idle}, {@code dev.troupe.snapshot}, {@code dev.troupe.trace},
 * {@code dev.troupe.transport}, {@code dev.troupe.weights}, {@code com.typesafe.config}, {@code org.apache.pekko},
 * {@code org.slf4j} and {@code scala}.
 */
package dev.troupe.actor;
