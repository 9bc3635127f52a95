/**
 * What a run will do, decided and refused before anything starts: the certified plans with their partition, the limits of
 * sizes, the costs of an emulated engine, the faults that can strike.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.collective.aeron},
 * {@code dev.troupe.config}, {@code dev.troupe.config.cluster}, {@code dev.troupe.config.fault},
 * {@code dev.troupe.config.group}, {@code dev.troupe.config.problem}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.engine}, {@code dev.troupe.engine.provider}, {@code dev.troupe.fault},
 * {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.optimizer},
 * {@code dev.troupe.parallel}, {@code dev.troupe.partition}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.rank}, {@code dev.troupe.protocol.watch}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.builder}, {@code dev.troupe.schedule.certificate},
 * {@code dev.troupe.schedule.family}, {@code dev.troupe.schedule.lowering}, {@code dev.troupe.shard} and
 * {@code dev.troupe.stage}.
 */
package dev.troupe.plan;
