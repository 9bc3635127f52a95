/**
 * From a configuration to a run, an evaluation or a generation that can start: engine, starting point, data, memory
 * of the machine, the directory of the run and its lock.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor.supervision}, {@code dev.troupe.batch}, {@code dev.troupe.checkpoint},
 * {@code dev.troupe.collective}, {@code dev.troupe.config}, {@code dev.troupe.config.cluster},
 * {@code dev.troupe.config.group}, {@code dev.troupe.config.problem}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.data}, {@code dev.troupe.engine}, {@code dev.troupe.engine.check},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.engine.structural}, {@code dev.troupe.fault},
 * {@code dev.troupe.generate}, {@code dev.troupe.layer}, {@code dev.troupe.memory}, {@code dev.troupe.model},
 * {@code dev.troupe.model.family}, {@code dev.troupe.model.spec}, {@code dev.troupe.optimizer},
 * {@code dev.troupe.parallel}, {@code dev.troupe.partition}, {@code dev.troupe.plan}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.replica}, {@code dev.troupe.protocol.watch}, {@code dev.troupe.publish},
 * {@code dev.troupe.rows}, {@code dev.troupe.schedule}, {@code dev.troupe.snapshot}, {@code dev.troupe.stage},
 * {@code dev.troupe.tokenizer}, {@code dev.troupe.tokenizer.file}, {@code dev.troupe.trace},
 * {@code dev.troupe.transport}, {@code dev.troupe.weights}, {@code dev.troupe.weights.huggingface},
 * {@code dev.troupe.weights.peft}, {@code com.typesafe.config} and {@code org.slf4j}.
 */
package dev.troupe.prepare;
