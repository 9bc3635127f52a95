/**
 * Files of JSON objects, one on each line, that a run adds to while it lasts and reads again when it goes on.
 *
 * <p>Imports the JDK and {@code com.fasterxml.jackson}.
 */
package dev.troupe.lines;
