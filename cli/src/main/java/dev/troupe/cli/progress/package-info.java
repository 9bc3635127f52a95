/**
 * A run as its user sees it: the summary before it starts, the progress line, the files of its directory, the trained
 * model at its end.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.checkpoint}, {@code dev.troupe.cli.options},
 * {@code dev.troupe.cli.report}, {@code dev.troupe.cli.stop}, {@code dev.troupe.cli.watch},
 * {@code dev.troupe.cluster}, {@code dev.troupe.cluster.status}, {@code dev.troupe.cluster.tls},
 * {@code dev.troupe.config}, {@code dev.troupe.config.cluster}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.engine}, {@code dev.troupe.generate}, {@code dev.troupe.model.spec}, {@code dev.troupe.observe},
 * {@code dev.troupe.output}, {@code dev.troupe.page}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.watch}, {@code dev.troupe.publish}, {@code dev.troupe.schedule},
 * {@code dev.troupe.schedule.drawing}, {@code dev.troupe.schedule.simulator}, {@code dev.troupe.schedule.timeline} and
 * {@code dev.troupe.tokenizer}.
 */
package dev.troupe.cli.progress;
