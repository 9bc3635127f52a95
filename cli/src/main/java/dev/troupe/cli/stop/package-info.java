/**
 * The requests to stop a command, and its end: signals, the lines of a launcher, exit codes, standard error.
 *
 * <p>Imports the JDK, {@code dev.troupe.run} and {@code picocli}.
 */
package dev.troupe.cli.stop;
