package dev.troupe.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A set of messages of one pass: for each edge a bit per microbatch. So all messages that a rank can receive in a pass,
 * under any schedule, fit into one control message. Immutable.
 */
public record MessageKeys(List<OfEdge> edges) {
    public static final MessageKeys NONE = new MessageKeys(List.of());

    /**
     * Messages of one edge.
     *
     * @param microbatches bit m % 8 of byte m / 8 is microbatch m
     */
    public record OfEdge(Edge edge, byte[] microbatches) {
        public OfEdge {
            microbatches = microbatches.clone();
        }

        @Override
        public byte[] microbatches() {
            return microbatches.clone();
        }

        private OfEdge with(OfEdge more) {
            BitSet all = BitSet.valueOf(microbatches);
            all.or(BitSet.valueOf(more.microbatches));
            return new OfEdge(edge, all.toByteArray());
        }

        private boolean has(int microbatch) {
            int at = microbatch / Byte.SIZE; // rounded down
            return at < microbatches.length && (microbatches[at] >>> microbatch % Byte.SIZE & 1) != 0;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof OfEdge that && edge.equals(that.edge)
                    && Arrays.equals(microbatches, that.microbatches);
        }

        @Override
        public int hashCode() {
            return 31 * edge.hashCode() + Arrays.hashCode(microbatches);
        }

        @Override
        public String toString() {
            return edge + ": microbatches " + BitSet.valueOf(microbatches);
        }
    }

    public MessageKeys {
        edges = List.copyOf(edges);
    }

    /** Returns these messages; duplicates count once. */
    public static MessageKeys of(Collection<MessageKey> keys) {
        Map<Edge, BitSet> bits = new LinkedHashMap<>();
        keys.forEach(key -> bits.computeIfAbsent(key.edge(), _ -> new BitSet()).set(key.microbatch()));
        List<OfEdge> edges = new ArrayList<>();
        bits.forEach((edge, microbatches) -> edges.add(new OfEdge(edge, microbatches.toByteArray())));
        return new MessageKeys(edges);
    }

    public boolean contains(MessageKey key) {
        for (OfEdge one : edges) { // a rank has few edges
            if (one.edge.equals(key.edge())) {
                return one.has(key.microbatch());
            }
        }
        return false;
    }

    public MessageKeys with(MessageKeys more) {
        Map<Edge, OfEdge> all = new LinkedHashMap<>();
        edges.forEach(one -> all.put(one.edge, one));
        more.edges.forEach(one -> all.merge(one.edge, one, OfEdge::with));
        return new MessageKeys(List.copyOf(all.values()));
    }

    /** Returns the same messages by their senders. */
    public Map<Integer, MessageKeys> bySender() {
        Map<Integer, List<OfEdge>> bySender = new TreeMap<>();
        edges.forEach(one -> bySender.computeIfAbsent(one.edge.fromRank(), _ -> new ArrayList<>()).add(one));
        Map<Integer, MessageKeys> keys = new TreeMap<>();
        bySender.forEach((rank, some) -> keys.put(rank, new MessageKeys(some)));
        return keys;
    }
}
