/**
 * Commands that use a whole model on one rank: to measure it and to let it write.
 *
 * <p>Imports the JDK, {@code dev.troupe.cli.options}, {@code dev.troupe.cli.stop}, {@code dev.troupe.config},
 * {@code dev.troupe.generate}, {@code dev.troupe.plan}, {@code dev.troupe.prepare} and {@code picocli}.
 */
package dev.troupe.cli.model;
