package dev.troupe.actor;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.fault.Carried;
import dev.troupe.fault.FaultInjector;
import dev.troupe.machine.Pass;
import dev.troupe.machine.StageTask;
import dev.troupe.schedule.Action;
import java.util.function.Supplier;

/** The points of a training step at which faults may strike a rank, in the words of its tasks. */
record StepPoints(FaultInjector faults, int rank) {
    private static final int NO_MICROBATCH = -1;

    /** Does a task, with what is due at its point. */
    TaskResult around(TaskRequest request, Supplier<TaskResult> work) {
        if (faults.isIdle() || request.pass().kind() == Pass.Kind.VALIDATION) {
            return work.get();
        }
        int microbatch = request.task() instanceof StageTask.Compute(Action action)
                ? action.microbatch()
                : NO_MICROBATCH;
        return faults.around(point(request.task()), rank, request.task().stage(), request.pass().step(), microbatch,
                work);
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

    private static FaultPoint point(StageTask task) {
        return switch (task) {
            case StageTask.Compute(Action action) -> switch (action.kind()) {
                case FORWARD -> FaultPoint.FORWARD;
                case FULL_BACKWARD -> FaultPoint.BACKWARD;
                case BACKWARD_INPUT -> FaultPoint.BACKWARD_INPUT;
                case BACKWARD_WEIGHT -> FaultPoint.BACKWARD_WEIGHT;
                case SEND_F, RECV_F, SEND_B, RECV_B ->
                    throw new IllegalArgumentException(action + " is not for a stage");
            };
            case StageTask.ExchangeTiedGradient _,StageTask.AddTiedGradient _,StageTask.MeasureGradients _ ->
                FaultPoint.REDUCE;
            case StageTask.Update _ -> FaultPoint.OPTIMIZER;
        };
    }
}
