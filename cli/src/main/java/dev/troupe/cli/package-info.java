/**
 * The door of {@code troupe}, and those of its commands that have no package of their own.
 *
 * <p>Imports the JDK, {@code dev.troupe.chaos}, {@code dev.troupe.chat}, {@code dev.troupe.checkpoint},
 * {@code dev.troupe.cli.bits}, {@code dev.troupe.cli.launch}, {@code dev.troupe.cli.model},
 * {@code dev.troupe.cli.options}, {@code dev.troupe.cli.page}, {@code dev.troupe.cli.progress},
 * {@code dev.troupe.cli.report}, {@code dev.troupe.cli.stop}, {@code dev.troupe.cli.watch},
 * {@code dev.troupe.cluster}, {@code dev.troupe.cluster.status}, {@code dev.troupe.cluster.tls},
 * {@code dev.troupe.compare}, {@code dev.troupe.config}, {@code dev.troupe.config.cluster},
 * {@code dev.troupe.config.fault}, {@code dev.troupe.config.group}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.data}, {@code dev.troupe.engine}, {@code dev.troupe.engine.provider}, {@code dev.troupe.observe},
 * {@code dev.troupe.output}, {@code dev.troupe.page}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol}, {@code dev.troupe.protocol.supervisor}, {@code dev.troupe.publish},
 * {@code dev.troupe.run}, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.builder},
 * {@code dev.troupe.schedule.certificate}, {@code dev.troupe.schedule.drawing}, {@code dev.troupe.schedule.family},
 * {@code dev.troupe.schedule.lowering}, {@code dev.troupe.schedule.simulator}, {@code dev.troupe.schedule.timeline},
 * {@code dev.troupe.tokenizer}, {@code dev.troupe.tokenizer.file}, {@code dev.troupe.transport},
 * {@code dev.troupe.transport.aeron}, {@code dev.troupe.weights.gguf}, {@code com.fasterxml.jackson} and
 * {@code picocli}.
 */
package dev.troupe.cli;
