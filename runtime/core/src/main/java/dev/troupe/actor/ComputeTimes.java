package dev.troupe.actor;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.Arrays;

/**
 * The shortest time of each kind of a stage's actions in a training pass. One thread at a time; allocates nothing for
 * an action.
 */
final class ComputeTimes {
    private final int stage;
    private final long[] nanos = new long[Kind.values().length];

    ComputeTimes(int stage) {
        this.stage = stage;
    }

    void add(Pass pass, Action action, long taken) {
        if (pass.kind() == Pass.Kind.TRAINING && action.kind().isCompute()) {
            int kind = action.kind().ordinal();
            nanos[kind] = nanos[kind] == 0 ? taken : Math.min(nanos[kind], taken);
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
