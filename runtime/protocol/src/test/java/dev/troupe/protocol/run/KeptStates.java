package dev.troupe.protocol.run;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The snapshots of a node, kept as {@code Snapshots} does: two of each stage, a write that breaks off leaves nothing
 * whole, and nobody writes over the newest that is whole but with the same again, nor over what is another node's.
 */
final class KeptStates {
    /**
     * The memory of one of them, which other nodes may have mapped: they see what its owner writes, also when that has
     * died.
     */
    private static final class Slot {
        private final KeptStates owner;
        private long stepsDone = -1;
        private long weights;
        // The number of the last write that began.
        private int writes;
        private long writtenAfter = -1;

        Slot(KeptStates owner) {
            this.owner = owner;
        }
    }

    /** A state that is being written. */
    record Write(Slot slot, int stage, long stepsDone, int number) {
    }

    // By stage, two.
    private final Map<Integer, Slot[]> pairs = new HashMap<>();

    private Slot[] pair(int stage) {
        return pairs.computeIfAbsent(stage, _ -> new Slot[]{new Slot(this), new Slot(this)});
    }

    private Stream<Slot> slots(int stage) {
        return Stream.ofNullable(pairs.get(stage)).flatMap(Arrays::stream);
    }

    private static int target(Slot[] pair, long steps) {
        int newest = pair[0].stepsDone >= pair[1].stepsDone ? 0 : 1;
        return pair[newest].stepsDone < 0 || pair[newest].stepsDone == steps ? newest : 1 - newest;
    }

    /** Begins to write the state of a stage. */
    Write begin(int stage, long stepsDone) {
        Slot[] pair = pair(stage);
        int target = target(pair, stepsDone);
        if (pair[target].owner != this) {
            pair[target] = new Slot(this);
        }
        Slot slot = pair[target];
        slot.stepsDone = -1;
        slot.writtenAfter = stepsDone;
        return new Write(slot, stage, stepsDone, ++slot.writes);
    }

    /** It is written; false where another write has begun there since. */
    boolean end(Write write, long weights) {
        Slot slot = write.slot();
        boolean isOurs = slot.writes == write.number();
        if (isOurs) {
            slot.stepsDone = write.stepsDone();
            slot.weights = weights;
        }
        return isOurs;
    }

    /**
     * Has what another node keeps of a stage after so many steps found here, where it lies; nothing where it is not
     * there any more.
     */
    void map(KeptStates from, int stage, long stepsDone) {
        from.slots(stage).filter(slot -> slot.stepsDone == stepsDone).findFirst().ifPresent(shared -> {
            Slot[] pair = pair(stage);
            if (pair[0] != shared && pair[1] != shared) {
                int unused = pair[0].writtenAfter < 0 ? 0 : pair[1].writtenAfter < 0 ? 1 : target(pair, stepsDone);
                pair[unused] = shared;
            }
        });
    }

    OptionalLong find(int stage, long stepsDone) {
        return slots(stage).filter(slot -> slot.stepsDone == stepsDone).mapToLong(slot -> slot.weights).findFirst();
    }

    /** After how many steps a stage is whole here. */
    LongStream versions(int stage) {
        return slots(stage).mapToLong(slot -> slot.stepsDone).filter(steps -> steps >= 0);
    }

    /** Forgets a stage where all of it, also what is still coming, is of fewer steps. */
    void forget(int stage, long before) {
        if (slots(stage).allMatch(slot -> slot.writtenAfter < before)) {
            pairs.remove(stage);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        pairs.forEach((stage, pair) -> text.append(stage).append(" after ").append(pair[0].stepsDone).append(" and ")
                .append(pair[1].stepsDone).append(", "));
        return text.toString();
    }
}
