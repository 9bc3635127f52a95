package dev.troupe.observe;

import dev.troupe.bits.RankBits;
import dev.troupe.bits.StepsOfBits;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.run.RunCommand;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.protocol.watch.PaceWatch;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.schedule.idle.Cause;
import dev.troupe.schedule.idle.RankTimes;
import dev.troupe.trace.FlightEvents;
import dev.troupe.trace.StepTraces;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Tells the listener of a run what has come of it: once, also where the run went back and does a step again, which has
 * the same result. Belongs to the coordinator.
 */
public final class RunReports {
    private final RunListener listener;
    private final LongSupplier clock;
    private final Recoveries recoveries = new Recoveries(System::currentTimeMillis);
    private final StragglerWatch stragglers;
    private final PaceWatch pace;
    private final StepTraces traces;
    private final StepsOfBits bits;
    private final LossSpikes spikes;
    // What the ranks computed in the step under way.
    private final Map<Integer, List<StageTime>> times = new TreeMap<>();
    private long timedStep = -1;
    private int epoch;
    private boolean isDisturbed;
    private boolean started;
    private long stepStartNanos;
    private long lastStep = -1;
    private long lastValidation = -1;

    /**
     * Reports to a listener.
     *
     * @param hosts for each rank its node, at first
     * @param traces puts the times of steps together
     * @param bits puts their digests together
     * @param spikes finds losses far above the usual one
     */
    public RunReports(RunListener listener, LongSupplier clock, StragglerWatch stragglers, List<String> hosts,
            StepTraces traces, StepsOfBits bits, LossSpikes spikes) {
        this.listener = listener;
        this.clock = clock;
        this.stragglers = stragglers;
        this.traces = traces;
        this.bits = bits;
        this.spikes = spikes;
        this.pace = new PaceWatch(hosts, listener.earlierStepSeconds());
    }

    /** The run begins, after its kernels have run once; why it cannot where its directory cannot be opened. */
    public Optional<String> begin(double warmUpSeconds) {
        try {
            listener.onBegin(warmUpSeconds);
            return Optional.empty();
        } catch (RuntimeException refused) {
            return Optional.of(refused.getMessage());
        }
    }

    /** A pass begins, for all ranks or for some that do it again. */
    public void passStarts(Pass pass, boolean isForAll, int epoch) {
        this.epoch = epoch;
        if (!started) {
            started = true;
            EventLog.ofRun(epoch, pass.step(), "all ranks are ready, the first step begins");
            listener.onStarted();
        }
        if (pass.kind() == Pass.Kind.TRAINING && isForAll) {
            stepStartNanos = clock.getAsLong();
        }
        if (pass.kind() == Pass.Kind.TRAINING) {
            traces.begins(pass.step(), System.nanoTime());
        }
    }

    /** A rank has computed its row of a step. */
    public void timed(int rank, long step, List<StageTime> computed) {
        if (step != timedStep) {
            timedStep = step;
            times.clear();
        }
        times.put(rank, computed);
    }

    /** A rank tells what it has measured in a step. */
    public void measured(RunEvent.PassDone done) {
        spikes.measured(done);
    }

    /** A rank has done its row of a step. */
    public void traced(long step, RankTimes ofRank) {
        traces.traced(step, ofRank, System.nanoTime());
    }

    /** A rank has told digests of a step. */
    public void digested(long step, RankBits ofRank) {
        bits.add(step, ofRank);
    }

    /** A rank has answered, with what its clock shows, what was asked at {@code askedNanos} of this one. */
    public void clockTold(int rank, long askedNanos, long nanos) {
        traces.clockTold(rank, askedNanos, nanos, System.nanoTime());
    }

    /** The ranks write a checkpoint before they continue. */
    public void checkpointBegins() {
        traces.disturbed(Cause.STATE);
    }

    /**
     * The steps of a pass are committed. Each has taken an equal part of its time, and the times of the whole pass are told
     * before the first.
     *
     * @param hosts for each rank the node that it lives on
     */
    public void committed(List<StepResult> results, List<String> hosts) {
        if (results.getFirst().step() <= lastStep) {
            return;
        }
        double seconds = (clock.getAsLong() - stepStartNanos) / 1e9 / results.size();
        traces.committed(results.getFirst().step(), hosts).ifPresent(listener::onTimes);
        results.forEach(result -> committed(result, seconds, hosts));
        isDisturbed = false;
    }

    private void committed(StepResult result, double seconds, List<String> hosts) {
        lastStep = result.step();
        FlightEvents.step(lastStep, epoch, result.loss(), seconds);
        bits.of(lastStep).ifPresent(listener::onBits);
        bits.committed(lastStep, result.skipped());
        listener.onStep(result, seconds);
        spikes.onStep(result, epoch, listener).ifPresent(this::tell);
        pace.onStep(lastStep + 1, epoch, seconds, isDisturbed).ifPresent(this::tell);
        if (!isDisturbed && timedStep == lastStep) {
            stragglers.onStep(lastStep + 1, epoch, hosts, times).forEach(this::tell);
        }
    }

    private void tell(Notice notice) {
        EventLog.ofRun(notice.epoch(), notice.stepsDone(), notice.sentence());
        listener.onNotice(notice);
    }

    public void validation(long stepsDone, double loss) {
        if (stepsDone > lastValidation) {
            lastValidation = stepsDone;
            traces.validated();
            listener.onValidated(stepsDone, loss);
        }
    }

    /** A node has joined; the run may be under way. */
    public void nodeJoined(long stepsDone, String node) {
        EventLog.ofRun(epoch, stepsDone, "node " + node + " has joined");
        pace.onJoined(stepsDone, epoch, node).ifPresent(this::tell);
    }

    /**
     * A node is gone.
     *
     * @param present those that are left
     * @param hosts for each rank the node that it lived on
     */
    public void nodeGone(long stepsDone, String node, Collection<String> present, List<String> hosts) {
        EventLog.ofRun(epoch, stepsDone, "node " + node + " is gone");
        if (started && !hosts.contains(node)) {
            tell(pace.onStandbyLost(stepsDone, epoch, node, present));
        }
    }

    public void recoveryBegins(RunCommand.EnterEpoch enter) {
        EventLog.ofRun(enter.epoch(), enter.stepsDone(), "begins an epoch, in which "
                + (enter.restarted().isEmpty()
                        ? "messages are sent again"
                        : "ranks " + enter.restarted() + " start again")
                + ": " + enter.reason());
        listener.onRecoveryBegins(enter.epoch(), enter.stepsDone(), enter.restarted(), enter.reason());
        FlightEvents.epoch(enter.epoch(), enter.stepsDone(), enter.restarted(), enter.reason());
        recoveries.begin(enter);
        traces.restarted(enter.restarted());
        epoch = enter.epoch();
        isDisturbed = true;
        pace.onMoved(enter.hosts());
    }

    public void resumed(int epoch, long stepsDone) {
        EventLog.ofRun(epoch, stepsDone, "all ranks are ready and continue");
        recoveries.resume();
    }

    public void caughtUp(long stepsDone) {
        for (Recovery recovery : recoveries.end()) {
            EventLog.ofRun(recovery.epoch(), stepsDone, recovery.ranks().isEmpty()
                    ? "every rank has the messages that were sent again"
                    : "ranks " + recovery.ranks() + " have caught up");
            listener.onRecovery(recovery);
        }
    }

    /** Returns why a run fails, with the first output that has a number that is not finite, if there is one. */
    public String explained(String reason) {
        return bits.firstNotFinite().map(found -> reason + "; the first number that is not finite is in step "
                + found.step() + " in " + listener.wordsOf(found.step(), found.output())).orElse(reason);
    }

    /** The run ends. */
    public void ended(long stepsDone, String how) {
        pace.onEnd(stepsDone, epoch).ifPresent(this::tell);
        EventLog.ofRun(epoch, stepsDone, how);
    }
}
