/**
 * What is wrong in a request: a problem with its place, the exception that carries all of them, and the words that a
 * misspelt one is compared with.
 *
 * <p>Imports the JDK and {@code com.typesafe.config}.
 */
package dev.troupe.config.problem;
