package dev.troupe.rank.trace;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The shortest times of a rank's actions in a training pass, by stage and kind. The time of a microbatch of short sequences
 * is scaled to the longest. Thread rule: one thread at a time; allocates nothing for an action.
 */
public final class ComputeTimes {
    private final RankTrace trace;
    private final Shares shares;
    private final Map<Integer, long[]> stages = new LinkedHashMap<>();

    /** The relative sequence lengths of microbatches. */
    @FunctionalInterface
    public interface Shares {
        /** Returns the sequence length of an action's microbatch, divided by the longest. */
        double of(Pass pass, Action action);
    }

    /** @param trace has the times if the engine is asynchronous */
    public ComputeTimes(List<Integer> stages, RankTrace trace, Shares shares) {
        this.trace = trace;
        this.shares = shares;
        stages.forEach(stage -> this.stages.put(stage, new long[Kind.values().length]));
    }

    /** Handles the end of an action on the host; an asynchronous engine has only received the request by then. */
    public void ended(Pass pass, Action action, long taken) {
        if (!trace.isOfDevice()) {
            add(pass, action, taken);
        }
    }

    private void add(Pass pass, Action action, long taken) {
        if (pass.kind() == Pass.Kind.TRAINING && action.kind().isCompute()) {
            long[] nanos = stages.get(action.stage());
            int kind = action.kind().ordinal();
            long whole = Math.round(taken / shares.of(pass, action));
            nanos[kind] = nanos[kind] == 0 ? whole : Math.min(nanos[kind], whole);
        }
    }

    public List<StageTime> take(Pass pass) {
        if (trace.isOfDevice()) {
            trace.computed((action, taken) -> add(pass, action, taken));
        }
        return stages.entrySet().stream().map(stage -> {
            StageTime time = time(stage.getKey(), stage.getValue());
            Arrays.fill(stage.getValue(), 0);
            return time;
        }).toList();
    }

    private static StageTime time(int stage, long[] nanos) {
        return new StageTime(stage, nanos[Kind.FORWARD.ordinal()], nanos[Kind.FULL_BACKWARD.ordinal()],
                nanos[Kind.BACKWARD_INPUT.ordinal()], nanos[Kind.BACKWARD_WEIGHT.ordinal()]);
    }
}
