/**
 * The files that a run leaves in its directory: metrics, events, its facts and memory, a record and a trace of its steps,
 * TensorBoard's events, its model.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.bisect}, {@code dev.troupe.bits},
 * {@code dev.troupe.chaos}, {@code dev.troupe.checkpoint}, {@code dev.troupe.cluster.status},
 * {@code dev.troupe.config}, {@code dev.troupe.config.cluster}, {@code dev.troupe.config.group},
 * {@code dev.troupe.config.spec}, {@code dev.troupe.lines}, {@code dev.troupe.memory}, {@code dev.troupe.model.spec},
 * {@code dev.troupe.observe}, {@code dev.troupe.partition}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol}, {@code dev.troupe.protocol.watch}, {@code dev.troupe.publish},
 * {@code dev.troupe.schedule}, {@code dev.troupe.schedule.certificate}, {@code dev.troupe.schedule.drawing},
 * {@code dev.troupe.schedule.idle}, {@code dev.troupe.schedule.lowering}, {@code dev.troupe.schedule.simulator},
 * {@code dev.troupe.weights}, {@code dev.troupe.weights.huggingface}, {@code dev.troupe.weights.peft} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.output;
