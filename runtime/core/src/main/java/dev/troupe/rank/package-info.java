/**
 * What a rank computes and sends with: its engine, groups and tensors, its outbox, the faults and times around an
 * action, its microbatches, the parts of checkpoints, the routes of copies, the warm-up of a standby. No actor in it.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.bits}, {@code dev.troupe.checkpoint},
 * {@code dev.troupe.collective}, {@code dev.troupe.config.fault}, {@code dev.troupe.config.group},
 * {@code dev.troupe.engine}, {@code dev.troupe.engine.check}, {@code dev.troupe.engine.provider},
 * {@code dev.troupe.fault}, {@code dev.troupe.group}, {@code dev.troupe.observe}, {@code dev.troupe.parallel},
 * {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.checkpoint}, {@code dev.troupe.protocol.rank}, {@code dev.troupe.protocol.run},
 * {@code dev.troupe.pulse}, {@code dev.troupe.schedule}, {@code dev.troupe.shard}, {@code dev.troupe.snapshot},
 * {@code dev.troupe.snapshot.copy}, {@code dev.troupe.stage}, {@code dev.troupe.step}, {@code dev.troupe.trace},
 * {@code dev.troupe.transport}, {@code dev.troupe.warmup}, {@code dev.troupe.weights} and {@code org.slf4j}.
 */
package dev.troupe.rank;
