/**
 * How a run can be watched beside its page: on the screen of a terminal, and by its meters.
 *
 * <p>Imports the JDK, {@code dev.troupe.cli.report}, {@code dev.troupe.cli.stop},
 * {@code dev.troupe.metrics}, {@code dev.troupe.observe}, {@code dev.troupe.page}, {@code dev.troupe.plan},
 * {@code dev.troupe.schedule.idle} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.cli.watch;
