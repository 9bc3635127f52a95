package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import dev.troupe.plan.FaultWords;
import dev.troupe.plan.step.StepHook;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.Rows;
import dev.troupe.schedule.Action;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The faults of one rank, which strike at the points of its training steps and in the results of its kernels. Thread rule:
 * the rank's thread; {@link #leaves} on any.
 */
public final class RankFaults implements StepHook {
    private final FaultInjector faults;
    private final BitFlips flips;
    private final int rank;
    private final Rows rows;

    RankFaults(FaultInjector faults, int rank, Rows rows) {
        this.faults = faults;
        this.flips = new BitFlips(faults, rank);
        this.rank = rank;
        this.rows = rows;
    }

    /** Returns the hook that injects the faults; {@link #NONE} in a run without faults. */
    public StepHook hook() {
        return faults.isIdle() ? NONE : this;
    }

    /** Returns an observer of the rank's engine that flips bits in results, after the other observer. */
    public KernelHook after(KernelHook other, Engine engine) {
        return faults.flipsBits() ? new FlippingHook(other, engine, flips) : other;
    }

    /**
     * Injects the faults around an action, except at {@link FaultPoint#COMMIT}: {@link #keeps} injects these inside the
     * action.
     */
    @Override
    public ActionResult around(Action action, Pass pass, Supplier<ActionResult> work) {
        Optional<FaultPoint> point = FaultWords.pointOf(action.kind());
        if (isValidation(pass) || point.isEmpty() || point.get() == FaultPoint.COMMIT) {
            return work.get();
        }
        long step = rows.stepOf(action, pass);
        int microbatch = rows.microbatchInStep(pass.kind(), action);
        return faults.around(point.get(), rank, action.stage(), step, microbatch, () -> {
            flips.begin(point.get(), action.stage(), step, microbatch);
            ActionResult result = work.get();
            flips.end();
            return result;
        });
    }

    private static boolean isValidation(Pass pass) {
        return pass.kind() == Pass.Kind.VALIDATION;
    }

    @Override
    public void updated(Stage stage, Engine engine) {
        if (faults.flipsBits()) {
            flips.updated(engine, stage.weights().stream().map(StateTensor::tensor).toList());
        }
    }

    @Override
    public void reads(int stage, Pass pass, int microbatch) {
        if (!isValidation(pass)) {
            faults.reads(rank, stage, pass.step(), microbatch);
        }
    }

    @Override
    public void takes(Action receive, Pass pass) {
        at(FaultPoint.RECEIVE, receive, pass);
    }

    @Override
    public void sends(Action send, Pass pass) {
        at(FaultPoint.SEND, send, pass);
    }

    private void at(FaultPoint point, Action message, Pass pass) {
        if (!isValidation(pass)) {
            faults.at(point, rank, message.stage(), rows.stepOf(message, pass),
                    rows.microbatchInStep(pass.kind(), message), FaultWords.contentOf(message.kind()));
        }
    }

    @Override
    public void leaves(Action send, Pass pass, Tensor tensor, Engine engine) {
        if (!isValidation(pass) && faults.flipsBits()) {
            flips.send(engine, send.stage(), rows.stepOf(send, pass), rows.microbatchInStep(pass.kind(), send),
                    FaultWords.contentOf(send.kind()), tensor);
        }
    }

    @Override
    public boolean keeps(int stage, long step) {
        faults.at(FaultPoint.COMMIT, rank, stage, step);
        return !faults.losesSnapshot(rank, stage, step);
    }
}
