package dev.troupe.actor;

import dev.troupe.machine.CoordinatorCommand;
import dev.troupe.machine.Pass;
import dev.troupe.machine.Recovery;
import dev.troupe.machine.StepResult;
import dev.troupe.run.RunListener;
import java.util.function.LongSupplier;

/**
 * Tells the listener of a run what has come of it: once, also where the run went back and does a step again, which has the same
 * result. Belongs to the coordinator.
 */
final class RunReports {
    private final RunListener listener;
    private final LongSupplier clock;
    private final Recoveries recoveries = new Recoveries(System::currentTimeMillis);
    private boolean started;
    private long stepStartNanos;
    private long lastStep = -1;
    private long lastHeldOut = -1;

    /**
     * @param clock
     *            nanoseconds of a monotonic clock
     */
    RunReports(RunListener listener, LongSupplier clock) {
        this.listener = listener;
        this.clock = clock;
    }

    RunListener listener() {
        return listener;
    }

    /** A pass begins, for all ranks or for some that do it again. */
    void passStarts(Pass pass, boolean isForAll, int epoch) {
        if (!started) {
            started = true;
            EventLog.ofRun(epoch, pass.step(), "all ranks are ready, the first step begins");
            listener.onStarted();
        }
        if (pass.kind() == Pass.Kind.TRAINING && isForAll) {
            stepStartNanos = clock.getAsLong();
        }
    }

    void committed(StepResult result) {
        if (result.step() > lastStep) {
            lastStep = result.step();
            listener.onStep(result, (clock.getAsLong() - stepStartNanos) / 1e9);
        }
    }

    void heldOut(long stepsDone, double loss) {
        if (stepsDone > lastHeldOut) {
            lastHeldOut = stepsDone;
            listener.onHeldOut(stepsDone, loss);
        }
    }

    void recoveryBegins(CoordinatorCommand.EnterEpoch enter) {
        EventLog.ofRun(enter.epoch(), enter.stepsDone(), "begins an epoch, in which "
                + (enter.restarted().isEmpty()
                        ? "messages are sent again"
                        : "ranks " + enter.restarted() + " start again")
                + ": " + enter.reason());
        recoveries.begin(enter);
    }

    void resumed(int epoch, long stepsDone) {
        EventLog.ofRun(epoch, stepsDone, "all ranks stand and go on");
        recoveries.resume();
    }

    void caughtUp(long stepsDone) {
        for (Recovery recovery : recoveries.end()) {
            EventLog.ofRun(recovery.epoch(), stepsDone, recovery.ranks().isEmpty()
                    ? "every rank has the messages that were sent again"
                    : "ranks " + recovery.ranks() + " have caught up");
            listener.onRecovery(recovery);
        }
    }
}
