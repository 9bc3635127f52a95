package dev.troupe.rank.trace;

import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The times of the step in progress, collected from all ranks. If steps overlap, the times of a pass are reported as one,
 * under its first step. Thread rule: the coordinator's thread.
 */
public final class StepTraces {
    private final StepTimes.Rows rows;
    private final StepTimes.Lengths lengths;
    private final NodeClocks clocks = new NodeClocks();
    private final RankTimes[] ranks;
    private long step = -1;
    private long begun = -1;
    private long begunNanos;
    private long endOfStep = -1;
    private long endNanos;
    private Cause between = Cause.COMMIT;

    public StepTraces(StepTimes.Rows rows, StepTimes.Lengths lengths) {
        this.rows = rows;
        this.lengths = rows.plan().stepCount() == 1 ? lengths : StepTimes.Lengths.EQUAL; // a row of several has several
        this.ranks = new RankTimes[rows.plan().rankCount() * rows.ranksPerPlace()];
    }

    /** Begins a step, or begins it again if ranks repeat it. */
    public void begins(long number, long nowNanos) {
        if (number != begun) {
            begun = number;
            begunNanos = nowNanos;
        }
    }

    /**
     * Adds the times of a rank that has done its row of a step. If the rank's clock is not known yet, the times are used
     * only if they lie between the beginning of the step and now. Then both clocks are one, as for processes of one machine.
     */
    public void traced(long ofStep, RankTimes times, long nowNanos) {
        if (ofStep != step) {
            step = ofStep;
            Arrays.fill(ranks, null);
        }
        boolean isOfOurClock = ofStep == begun && times.beginNanos() >= begunNanos && times.lastNanos() <= nowNanos;
        ranks[times.rank()] = clocks.of(times.rank()).map(clock -> times.shifted(-clock.aheadNanos()))
                .orElse(isOfOurClock ? times : null);
    }

    /** Adds a reading of a rank's clock; times as for {@link NodeClocks#answered}. */
    public void clockRead(int rank, long askedNanos, long thereNanos, long answeredNanos) {
        clocks.answered(rank, askedNanos, thereNanos, answeredNanos);
    }

    /** Records that ranks restart, perhaps in another process. */
    public void restarted(Collection<Integer> restarted) {
        restarted.forEach(clocks::forget);
        disturbed(Cause.RECOVERY);
    }

    /** Records a further cause of the time before or in the next step. */
    public void disturbed(Cause cause) {
        if (between != Cause.RECOVERY) {
            between = cause;
        }
    }

    /** Records a pass over validation data: the time until the next step is not idle. */
    public void validated() {
        endOfStep = -1;
    }

    /** Commits a step; returns its times, if every rank has reported them. */
    public Optional<StepTimes> committed(long ofStep, List<String> nodes) {
        if (ofStep != step || Arrays.asList(ranks).contains(null)) {
            endOfStep = -1;
            between = Cause.COMMIT;
            return Optional.empty();
        }
        StepTimes times = new StepTimes(step, rows, List.of(ranks), nodes, lengths.of(step),
                endOfStep == step - rows.plan().stepCount() ? endNanos : 0,
                between);
        endOfStep = step;
        endNanos = times.endNanos();
        between = Cause.COMMIT;
        return Optional.of(times);
    }
}
