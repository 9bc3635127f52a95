/**
 * The logic of a rank and of a run as pure state machines: events in, commands out. No actor, thread, clock or tensor in
 * it; imports {@code dev.troupe.schedule}, the plain sums and norms of {@code dev.troupe.model}, and the JDK.
 */
package dev.troupe.machine;
