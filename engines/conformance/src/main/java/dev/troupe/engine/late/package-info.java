/**
 * An engine that does what it is asked late, as a device does: the proof of callers.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.late;
