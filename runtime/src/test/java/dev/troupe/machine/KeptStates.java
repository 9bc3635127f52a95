package dev.troupe.machine;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/** The snapshots of a node, kept as {@code Snapshots} does: two of each stage, and a write that breaks off leaves nothing whole. */
final class KeptStates {
    private static final class State {
        private long stepsDone = -1;
        private long weights;
    }

    private static final class Pair {
        private State older = new State();
        private State newer = new State();
        private boolean isAgain;
    }

    private final Map<Integer, Pair> pairs = new HashMap<>();

    /** Begins to write the state of a stage. */
    void begin(int stage, long stepsDone) {
        Pair pair = pairs.computeIfAbsent(stage, _ -> new Pair());
        pair.isAgain = pair.newer.stepsDone == stepsDone;
        (pair.isAgain ? pair.newer : pair.older).stepsDone = -1;
    }

    /** It is written. */
    void end(int stage, long stepsDone, long weights) {
        Pair pair = pairs.get(stage);
        State target = pair.isAgain ? pair.newer : pair.older;
        target.stepsDone = stepsDone;
        target.weights = weights;
        if (!pair.isAgain) {
            pair.older = pair.newer;
            pair.newer = target;
        }
    }

    OptionalLong find(int stage, long stepsDone) {
        Pair pair = pairs.getOrDefault(stage, new Pair());
        if (pair.newer.stepsDone == stepsDone) {
            return OptionalLong.of(pair.newer.weights);
        }
        return pair.older.stepsDone == stepsDone ? OptionalLong.of(pair.older.weights) : OptionalLong.empty();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        pairs.forEach((stage, pair) -> text.append(stage).append(" after ").append(pair.older.stepsDone).append(" and ")
                .append(pair.newer.stepsDone).append(", "));
        return text.toString();
    }
}
