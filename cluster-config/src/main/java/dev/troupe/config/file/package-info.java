/**
 * Files of configuration, read within bounds: includes, pieces of sections, and values that repeat each other.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.problem} and {@code com.typesafe.config}.
 */
package dev.troupe.config.file;
