/**
 * How a command is asked to stop, and how it ends: signals, the words of a launcher, exit codes, standard error.
 *
 * <p>Imports the JDK, {@code dev.troupe.run} and {@code picocli}.
 */
package dev.troupe.cli.stop;
