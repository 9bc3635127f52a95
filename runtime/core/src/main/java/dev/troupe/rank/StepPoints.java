package dev.troupe.rank;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.fault.BitFlips;
import dev.troupe.fault.Carried;
import dev.troupe.fault.FaultInjector;
import dev.troupe.fault.FaultPoints;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.protocol.rank.ActionResult;
import java.util.Optional;
import java.util.function.Supplier;

/** The points of a training step at which faults may strike a rank, in the words of its actions. */
record StepPoints(FaultInjector faults, BitFlips flips, int rank) {
    /** Does an action, with what is due at its point, if it has one. */
    ActionResult around(ActionRequest request, Supplier<ActionResult> work) {
        Action action = request.action();
        Optional<FaultPoint> point = FaultPoints.of(action.kind());
        if (faults.isIdle() || request.pass().kind() == Pass.Kind.VALIDATION || point.isEmpty()
                || point.get() == FaultPoint.COMMIT) { // where a snapshot is kept a fault strikes by itself
            return work.get();
        }
        return faults.around(point.get(), rank, action.stage(), request.pass().step(), action.microbatch(), () -> {
            flips.begin(point.get(), action.stage(), request.pass().step(), action.microbatch());
            ActionResult result = work.get();
            flips.end();
            return result;
        });
    }

    /** A stage is about to hand over or take a message. */
    void at(FaultPoint point, Pass pass, Action message) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            faults.at(point, rank, message.stage(), pass.step(), message.microbatch(),
                    Carried.by(message.kind()));
        }
    }

    /** A stage is about to keep its snapshot after a step; whether it does. */
    boolean keepsSnapshot(int stage, long step) {
        faults.at(FaultPoint.COMMIT, rank, stage, step);
        return !faults.losesSnapshot(rank, stage, step);
    }
}
