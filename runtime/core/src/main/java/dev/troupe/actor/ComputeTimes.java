package dev.troupe.actor;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.Arrays;

/**
 * The shortest time of each kind of a stage's actions in a training pass; that of a microbatch of shorter sequences as if it
 * had the longest. One thread at a time; allocates nothing for an action.
 */
final class ComputeTimes {
    private final int stage;
    private final Shares shares;
    private final long[] nanos = new long[Kind.values().length];

    /** How long the sequences of microbatches are. */
    @FunctionalInterface
    interface Shares {
        /** Returns the length of the sequences of an action's microbatch over that of the longest. */
        double of(Pass pass, Action action);
    }

    ComputeTimes(int stage, Shares shares) {
        this.stage = stage;
        this.shares = shares;
    }

    void add(Pass pass, Action action, long taken) {
        if (pass.kind() == Pass.Kind.TRAINING && action.kind().isCompute()) {
            int kind = action.kind().ordinal();
            long whole = Math.round(taken / shares.of(pass, action));
            nanos[kind] = nanos[kind] == 0 ? whole : Math.min(nanos[kind], whole);
        }
    }

    /** Returns the times and begins anew. */
    StageTime take() {
        StageTime time = new StageTime(stage, of(Kind.FORWARD), of(Kind.FULL_BACKWARD), of(Kind.BACKWARD_INPUT),
                of(Kind.BACKWARD_WEIGHT));
        Arrays.fill(nanos, 0);
        return time;
    }

    private long of(Kind kind) {
        return nanos[kind.ordinal()];
    }
}
