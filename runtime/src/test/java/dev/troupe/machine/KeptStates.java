package dev.troupe.machine;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The snapshots of a node, kept as {@code Snapshots} does: two of each stage, a write that breaks off leaves nothing whole, and
 * nobody writes over the newest that is whole but with the same again.
 */
final class KeptStates {
    private static final class Pair {
        private final long[] stepsDone = {-1, -1};
        private final long[] weights = new long[2];
        // Of each slot, the number of the last write that began.
        private final int[] writes = new int[2];
        private final long[] writtenAfter = {-1, -1};

        int target(long steps) {
            int newest = stepsDone[0] >= stepsDone[1] ? 0 : 1;
            return stepsDone[newest] < 0 || stepsDone[newest] == steps ? newest : 1 - newest;
        }
    }

    /** A state that is being written. */
    record Write(int stage, long stepsDone, int slot, int number) {
    }

    private final Map<Integer, Pair> pairs = new HashMap<>();

    /** Begins to write the state of a stage. */
    Write begin(int stage, long stepsDone) {
        Pair pair = pairs.computeIfAbsent(stage, _ -> new Pair());
        int slot = pair.target(stepsDone);
        pair.stepsDone[slot] = -1;
        pair.writtenAfter[slot] = stepsDone;
        return new Write(stage, stepsDone, slot, ++pair.writes[slot]);
    }

    /** It is written; false where another write has begun there since. */
    boolean end(Write write, long weights) {
        Pair pair = pairs.getOrDefault(write.stage(), new Pair());
        boolean isOurs = pair.writes[write.slot()] == write.number();
        if (isOurs) {
            pair.stepsDone[write.slot()] = write.stepsDone();
            pair.weights[write.slot()] = weights;
        }
        return isOurs;
    }

    OptionalLong find(int stage, long stepsDone) {
        Pair pair = pairs.getOrDefault(stage, new Pair());
        return IntStream.range(0, 2).filter(slot -> pair.stepsDone[slot] == stepsDone)
                .mapToLong(slot -> pair.weights[slot]).findFirst();
    }

    /** After how many steps a stage is whole here. */
    LongStream versions(int stage) {
        return LongStream.of(pairs.getOrDefault(stage, new Pair()).stepsDone).filter(steps -> steps >= 0);
    }

    /** Forgets a stage where all of it, also what is still coming, is of fewer steps. */
    void forget(int stage, long before) {
        if (LongStream.of(pairs.getOrDefault(stage, new Pair()).writtenAfter).allMatch(steps -> steps < before)) {
            pairs.remove(stage);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        pairs.forEach((stage, pair) -> text.append(stage).append(" after ").append(pair.stepsDone[0]).append(" and ")
                .append(pair.stepsDone[1]).append(", "));
        return text.toString();
    }
}
