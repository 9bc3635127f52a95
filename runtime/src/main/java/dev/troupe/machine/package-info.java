/**
 * The logic of a rank and of a run as pure state machines: events in, commands out. No actor, thread, clock or tensor in
 * it.
 *
 * <p>Imports the JDK, {@code dev.troupe.optimizer}, {@code dev.troupe.schedule}, {@code dev.troupe.transport} and
 * {@code com.fasterxml.jackson}.
 */
package dev.troupe.machine;
