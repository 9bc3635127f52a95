/**
 * Options that several commands share: the directory of a run, settings, a cluster file, costs, the form of an
 * export; those of schedules whose steps overlap; the version; the sentence for options that nobody knows; and the
 * command that resumes a run.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.cli.stop}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster}, {@code dev.troupe.config.spec}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.drawing}, {@code dev.troupe.schedule.family}, {@code dev.troupe.schedule.lowering},
 * {@code dev.troupe.schedule.simulator}, {@code dev.troupe.weights.gguf}, {@code dev.troupe.weights.huggingface} and
 * {@code picocli}.
 */
package dev.troupe.cli.options;
