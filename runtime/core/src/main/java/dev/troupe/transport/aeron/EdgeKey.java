package dev.troupe.transport.aeron;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;

/** An edge as one {@code long}: 16 bits each of sender, receiver and stage, 8 of kind. */
final class EdgeKey {
    private EdgeKey() {
    }

    static long of(Edge edge) {
        return of(edge.fromRank(), edge.toRank(), edge.stage(), edge.kind());
    }

    static long of(int fromRank, int toRank, int stage, MessageKind kind) {
        return (long) fromRank << 40 | (long) toRank << 24 | (long) stage << 8 | kind.code();
    }
}
