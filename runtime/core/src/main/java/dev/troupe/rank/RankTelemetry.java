package dev.troupe.rank;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.Rows;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.rank.bits.BitRecorder;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.trace.ComputeTimes;
import dev.troupe.rank.trace.RankTrace;
import dev.troupe.schedule.Action;
import java.util.List;

/**
 * The telemetry of one incarnation of a rank: the times of its stages, the trace of its steps and the digests of its
 * results. Each is reported at the end of its step. Thread rule: the thread of the rank's actor.
 */
public final class RankTelemetry {
    /** Maximum number of actions with times in one control message. */
    private static final int MOST_TRACED_ELSEWHERE = 5_000;
    /** Maximum number of digests in one control message, of 9 bytes each. */
    public static final int MOST_DIGESTS_ELSEWHERE = 25_000;

    public interface Receiver {
        /** Whether it is in another process; then reports larger than a control message are left out. */
        boolean isElsewhere();

        /** Receives the shortest times of the stages in the pass of a step. */
        void timed(long step, List<StageTime> times);

        /** Receives the times of every action in the row of a step. */
        void traced(long step, RankTimes times);

        void digested(long step, RankBits bits);
    }

    private final TrainingPlan plan;
    private final Rows rows;
    private final RankTrace trace;
    private final BitRecorder bits;
    private final ComputeTimes times;
    private final Receiver receiver;

    RankTelemetry(int rank, TrainingPlan plan, RankTrace trace, BitRecorder bits, ComputeTimes.Shares lengths,
            Receiver receiver) {
        this.plan = plan;
        this.rows = plan.rows();
        this.trace = trace;
        this.bits = bits;
        this.times = new ComputeTimes(plan.stagesOf(rank), trace, lengths);
        this.receiver = receiver;
    }

    public void passStarted(Pass pass) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            trace.stepBegins(pass.step());
        }
    }

    /** Handles the end of an action; {@code nanos} is its duration on the host's clock. */
    public void actionEnded(Pass pass, Action action, long nanos) {
        times.ended(pass, action, nanos);
        if (rows.overlap() && action.kind() == plan.endOfUpdate()) {
            report(rows.stepOf(action, pass), bits.takeWeights(rows.stepInRow(pass.kind(), action)));
        }
    }

    /** Handles the end of a step within a pass; its update is still to come. */
    public void stepMeasured(Pass pass, long step) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            int inRow = (int) (step - pass.step());
            if (inRow == plan.stepsPerPass() - 1) {
                receiver.timed(step, times.take(pass));
            }
            report(step, bits.takeFirst(inRow));
        }
    }

    /** Handles the end of a row that begins with this step; the weights are updated. */
    public void updated(long step) {
        RankTimes taken = trace.take();
        if (!receiver.isElsewhere() || taken.ends().length <= MOST_TRACED_ELSEWHERE) {
            receiver.traced(step, taken);
        }
        if (!rows.overlap()) {
            report(step, bits.takeWeights(0));
        }
    }

    private void report(long step, RankBits digests) {
        if (!receiver.isElsewhere() || digests.values().length <= MOST_DIGESTS_ELSEWHERE) {
            receiver.digested(step, digests);
        }
    }
}
