package dev.troupe.protocol.checkpoint;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The parts of the checkpoint in progress. One thread. */
public final class CheckpointParts {
    private final List<CheckpointPart> written = new ArrayList<>();
    private final Map<Integer, String> unwritten = new TreeMap<>();

    public void add(CheckpointPart part) {
        written.add(part);
    }

    public void fail(int rank, String why) {
        unwritten.put(rank, why);
    }

    /** Returns the reason why the checkpoint is incomplete, if it is. */
    public Optional<String> failure() {
        return unwritten.values().stream().findFirst();
    }

    /** Returns the parts by name, so that the manifest does not depend on the order of answers. */
    public List<CheckpointPart> inOrder() {
        return written.stream().sorted(Comparator.comparing(CheckpointPart::file)).toList();
    }

    public void clear() {
        written.clear();
        unwritten.clear();
    }
}
