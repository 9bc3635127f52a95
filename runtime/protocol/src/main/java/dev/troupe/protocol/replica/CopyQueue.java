package dev.troupe.protocol.replica;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The queue of snapshots to copy to another node: the two newest of each stage. The stage that has waited longest is first,
 * and of its snapshots the older one, which may be the last commit. One thread.
 */
public final class CopyQueue {
    private static final int MOST_VERSIONS = 2;

    /** The state of a stage of a rank after {@code stepsDone} steps. */
    public record Version(int rank, int stage, long stepsDone) {
    }

    private record Place(int rank, int stage) {
    }

    private final Map<Place, TreeSet<Long>> waiting = new LinkedHashMap<>();

    public void offer(int rank, int stage, long stepsDone) {
        TreeSet<Long> versions = waiting.computeIfAbsent(new Place(rank, stage), _ -> new TreeSet<>());
        versions.add(stepsDone);
        if (versions.size() > MOST_VERSIONS) {
            versions.removeFirst();
        }
    }

    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Takes the next snapshot; empty if the queue is empty. */
    public Optional<Version> next() {
        if (waiting.isEmpty()) {
            return Optional.empty();
        }
        Place first = waiting.keySet().iterator().next();
        TreeSet<Long> versions = waiting.remove(first);
        Version next = new Version(first.rank(), first.stage(), versions.removeFirst());
        if (!versions.isEmpty()) {
            waiting.put(first, versions); // after the snapshots that wait as long
        }
        return Optional.of(next);
    }

    @Override
    public String toString() {
        return waiting.toString();
    }
}
