/**
 * The logic of a rank and of a run as pure state machines: events in, commands out. No actor, thread, clock or tensor in
 * it. Of Troupe it imports {@code dev.troupe.schedule}, the plain sums and norms of {@code dev.troupe.model}, and what an edge of
 * {@code dev.troupe.transport} is called; of libraries the annotations by which Jackson writes a loss scale.
 */
package dev.troupe.machine;
