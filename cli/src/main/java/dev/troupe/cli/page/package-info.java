/**
 * The command that serves the page of a run.
 *
 * <p>Imports the JDK, {@code dev.troupe.cli.stop}, {@code dev.troupe.output}, {@code dev.troupe.page},
 * {@code dev.troupe.plan} and {@code picocli}.
 */
package dev.troupe.cli.page;
