package dev.troupe.rank;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.fault.BitFlips;
import dev.troupe.fault.Carried;
import dev.troupe.fault.FaultInjector;
import dev.troupe.fault.FaultPoints;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.RunPlan;
import dev.troupe.schedule.Action;
import java.util.Optional;
import java.util.function.Supplier;

/** The points of a training step at which faults may strike a rank, in the words of its actions. */
record StepPoints(FaultInjector faults, BitFlips flips, int rank, RunPlan plan) {
    /** Does an action, with what is due at its point, if it has one. */
    ActionResult around(ActionRequest request, Supplier<ActionResult> work) {
        Action action = request.action();
        Optional<FaultPoint> point = FaultPoints.of(action.kind());
        if (faults.isIdle() || request.pass().kind() == Pass.Kind.VALIDATION || point.isEmpty()
                || point.get() == FaultPoint.COMMIT) { // where a snapshot is kept a fault strikes by itself
            return work.get();
        }
        long step = stepOf(request.pass(), action);
        int microbatch = plan.microbatchInStep(request.pass().kind(), action);
        return faults.around(point.get(), rank, action.stage(), step, microbatch, () -> {
            flips.begin(point.get(), action.stage(), step, microbatch);
            ActionResult result = work.get();
            flips.end();
            return result;
        });
    }

    private long stepOf(Pass pass, Action action) {
        return pass.step() + plan.stepInRow(pass.kind(), action);
    }

    /** The rank is about to read the rows of a microbatch for a stage. */
    void reads(int stage, Pass pass, int microbatch) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            faults.reads(rank, stage, pass.step(), microbatch);
        }
    }

    /** A stage is about to hand over or take a message. */
    void at(FaultPoint point, Pass pass, Action message) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            faults.at(point, rank, message.stage(), stepOf(pass, message), plan.microbatchInStep(pass.kind(), message),
                    Carried.by(message.kind()));
        }
    }

    /** A stage is about to keep its snapshot after a step; whether it does. */
    boolean keepsSnapshot(int stage, long step) {
        faults.at(FaultPoint.COMMIT, rank, stage, step);
        return !faults.losesSnapshot(rank, stage, step);
    }
}
