package dev.troupe.run.news;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.run.RunCommand;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.protocol.watch.PaceWatch;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.rank.bits.OutputPlace;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.bits.StepsOfBits;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.trace.FlightEvents;
import dev.troupe.rank.trace.StepTraces;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The reports of a run to its listener. Each step is reported once: a step that is repeated after a failure has the same
 * result. Thread rule: the coordinator's thread.
 */
public final class RunReports {
    private final RunListener listener;
    private final LongSupplier clock;
    private final OutputPlace places;
    private final Recoveries recoveries = new Recoveries(System::currentTimeMillis);
    private final StragglerWatch stragglers;
    private final PaceWatch pace;
    private final StepTraces traces;
    private final StepsOfBits bits;
    private final LossSpikes spikes;
    private final Map<Integer, List<StageTime>> times = new TreeMap<>();
    private long timedStep = -1;
    private int epoch;
    private boolean isDisturbed;
    private boolean started;
    private long stepStartNanos;
    private long lastStep = -1;
    private long lastValidation = -1;

    /**
     * @param places the text for the outputs of a step
     * @param pace watches the times of steps
     * @param traces collects the times of the ranks in a step
     * @param bits collects the digests of the ranks in a step
     * @param spikes finds losses far above the usual one
     */
    public RunReports(RunListener listener, OutputPlace places, LongSupplier clock, StragglerWatch stragglers,
            PaceWatch pace, StepTraces traces, StepsOfBits bits, LossSpikes spikes) {
        this.listener = listener;
        this.places = places;
        this.clock = clock;
        this.stragglers = stragglers;
        this.pace = pace;
        this.traces = traces;
        this.bits = bits;
        this.spikes = spikes;
    }

    /** Reports that the run waits for nodes before it begins. */
    public void waiting(List<String> missing) {
        listener.on(new RunNews.Waiting(missing));
    }

    /** Reports that the run begins; returns the reason if its directory cannot be opened. */
    public Optional<String> begin(double warmUpSeconds) {
        try {
            listener.on(new RunNews.Begun(warmUpSeconds));
            return Optional.empty();
        } catch (RuntimeException refused) {
            return Optional.of(refused.getMessage());
        }
    }

    /** Reports that a pass begins, for all ranks or for some that repeat it. */
    public void passStarts(Pass pass, boolean isForAll, int epoch) {
        this.epoch = epoch;
        if (!started) {
            started = true;
            EventLog.ofRun(epoch, pass.step(), "all ranks are ready, the first step begins");
            listener.on(new RunNews.Started(epoch, pass.step()));
        }
        if (pass.kind() == Pass.Kind.TRAINING && isForAll) {
            stepStartNanos = clock.getAsLong();
        }
        if (pass.kind() == Pass.Kind.TRAINING) {
            traces.begins(pass.step(), System.nanoTime());
        }
    }

    public void timed(int rank, long step, List<StageTime> computed) {
        if (step != timedStep) {
            timedStep = step;
            times.clear();
        }
        times.put(rank, computed);
    }

    /** Records the losses and norms of a rank in a pass. */
    public void measured(RunEvent.PassDone done) {
        spikes.measured(done);
    }

    /** Records the trace of a rank that has done its row of a step. */
    public void traced(long step, RankTimes ofRank) {
        traces.traced(step, ofRank, System.nanoTime());
    }

    public void digested(long step, RankBits ofRank) {
        bits.add(step, ofRank);
    }

    /** Records a reading of a rank's clock; the question was sent at {@code askedNanos} of this clock. */
    public void clockRead(int rank, long askedNanos, long nanos) {
        traces.clockRead(rank, askedNanos, nanos, System.nanoTime());
    }

    /** Records that the ranks write a checkpoint before they continue. */
    public void checkpointBegins() {
        traces.disturbed(Cause.STATE);
    }

    /**
     * Reports the committed steps of a pass, each with an equal part of its time. The times of the whole pass are reported
     * before the first step.
     */
    public void committed(List<StepResult> results, List<String> hosts) {
        if (results.getFirst().step() <= lastStep) {
            return;
        }
        double seconds = (clock.getAsLong() - stepStartNanos) / 1e9 / results.size();
        traces.committed(results.getFirst().step(), hosts)
                .ifPresent(times -> listener.on(new RunNews.Timed(times)));
        results.forEach(result -> committed(result, seconds, hosts));
        isDisturbed = false;
    }

    private void committed(StepResult result, double seconds, List<String> hosts) {
        lastStep = result.step();
        FlightEvents.step(lastStep, epoch, result.loss(), seconds);
        bits.of(lastStep).ifPresent(ofStep -> listener.on(new RunNews.Digested(ofStep)));
        bits.committed(lastStep, result.skipped());
        listener.on(new RunNews.StepDone(result, seconds));
        spikes.onStep(result, epoch, places).ifPresent(this::report);
        pace.onStep(lastStep + 1, epoch, seconds, isDisturbed).ifPresent(this::report);
        if (!isDisturbed && timedStep == lastStep) {
            stragglers.onStep(lastStep + 1, epoch, hosts, times).forEach(this::report);
        }
    }

    private void report(Notice notice) {
        EventLog.ofRun(notice.epoch(), notice.stepsDone(), notice.sentence());
        listener.on(new RunNews.Noticed(notice));
    }

    public void validation(long stepsDone, double loss) {
        if (stepsDone > lastValidation) {
            lastValidation = stepsDone;
            traces.validated();
            listener.on(new RunNews.Validated(stepsDone, loss));
        }
    }

    public void nodeJoined(long stepsDone, String node) {
        EventLog.ofRun(epoch, stepsDone, "node " + node + " has joined");
        pace.onJoined(stepsDone, epoch, node).ifPresent(this::report);
    }

    /** Reports the loss of a node. */
    public void nodeGone(long stepsDone, String node, Collection<String> present, List<String> hosts) {
        EventLog.ofRun(epoch, stepsDone, "node " + node + " is gone");
        if (started && !hosts.contains(node)) {
            report(pace.onStandbyLost(stepsDone, epoch, node, present));
        }
    }

    public void recoveryBegins(RunCommand.EnterEpoch enter) {
        EventLog.ofRun(enter.epoch(), enter.stepsDone(), "begins an epoch, in which "
                + (enter.restarted().isEmpty()
                        ? "messages are sent again"
                        : "ranks " + enter.restarted() + " start again")
                + ": " + enter.reason());
        listener.on(new RunNews.RecoveryBegun(enter.epoch(), enter.stepsDone(), enter.restarted(), enter.reason()));
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
            listener.on(new RunNews.Recovered(recovery));
        }
    }

    public void checkpointDone(long stepsDone, Path checkpoint) {
        listener.on(new RunNews.CheckpointDone(epoch, stepsDone, checkpoint));
        EventLog.ofRun(epoch, stepsDone, "a checkpoint is complete");
    }

    public void checkpointFailed(long stepsDone, String why) {
        listener.on(new RunNews.CheckpointFailed(epoch, stepsDone, why));
        EventLog.ofRun(epoch, stepsDone, "a checkpoint could not be written: " + why);
    }

    /** Returns the reason of a failure, with the first output that is not finite, if there is one. */
    public String explained(String reason) {
        return bits.firstNotFinite().map(found -> reason + "; the first number that is not finite is in step "
                + found.step() + " in " + places.words(found.step(), found.output())).orElse(reason);
    }

    public void ended(long stepsDone, String how) {
        pace.onEnd(stepsDone, epoch).ifPresent(this::report);
        EventLog.ofRun(epoch, stepsDone, how);
    }
}
