/**
 * Commands that ask which bit went wrong first.
 *
 * <p>Imports the JDK, {@code dev.troupe.bisect}, {@code dev.troupe.bits}, {@code dev.troupe.cli.stop},
 * {@code dev.troupe.config}, {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.replay},
 * {@code com.fasterxml.jackson} and {@code picocli}.
 */
package dev.troupe.cli.bits;
