package dev.troupe.actor;

import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.EngineGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.protocol.Traffic;
import dev.troupe.stage.Stage;
import dev.troupe.parallel.Aside;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.pulse.Pulse;
import dev.troupe.pulse.WatchedEngine;
import dev.troupe.pulse.WatchedGroup;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one rank has beside its actors: engine, thread, stages, tensors between stages. All stages of a rank share its
 * engine and its thread, since a rank computes one thing at a time.
 *
 * <p>Thread rule: {@link #open} on the rank's thread; {@link #worker} and {@link #send} after all are open. Closed by the
 * node, after the transport (which reads and writes tensors) and after the thread.
 */
final class RankResources {
    private static final Logger LOG = LoggerFactory.getLogger(RankResources.class);

    /** A source for what is overwritten at once. */
    static final WeightSource NOTHING = (_, _, _, _) -> {
    };

    private static final int STACK_SHOWN = 12;

    private final int rank;
    private final Incarnation incarnation;
    private final long stepsDone;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final Pulse pulse = new Pulse();
    private final Engine engine;
    private final WorkClock clock;
    private final RankTensors tensors;
    private final Optional<CollectiveGroup> tensorGroup;
    private final Optional<CollectiveGroup> dataGroup;
    private final MicrobatchReader data;
    private final Outbox outbox;
    private final RankThread thread;
    /** Exchanges with other ranks while {@link #thread} computes. */
    private final RankThread exchanging;
    private final Aside aside = new Aside() {
        @Override
        public void execute(Runnable task) {
            exchanging.run(() -> {
                task.run();
                return null;
            });
        }

        @Override
        public void waited(long nanos) {
            RankResources.this.waited(nanos);
        }
    };
    private long waitedNanos;
    private Traffic toldTraffic = Traffic.NONE;
    /** Whether the transport has nothing of a retired incarnation any more. */
    private volatile boolean isLetGo;
    // Filled on the rank's thread, read by the transport's.
    private final Map<Integer, StageWorker> workers = new ConcurrentHashMap<>();

    /**
     * @param stepsDone
     *            steps that lie behind when it starts: the weights are those after them
     */
    RankResources(Incarnation incarnation, long stepsDone, NodeContext node) {
        this.rank = incarnation.rank();
        this.incarnation = incarnation;
        this.stepsDone = stepsDone;
        this.node = node;
        this.plan = node.plan();
        this.engine = new WatchedEngine(node.engines().get(), pulse);
        this.clock = node.clocks().get();
        this.tensorGroup = join(GroupKind.TENSOR);
        this.dataGroup = join(GroupKind.DATA);
        this.outbox = new Outbox(rank, node.transport(), engine, node.snapshots().isPresent(), incarnation.epoch(),
                (edge, tensor) -> worker(plan.senderOf(edge)).release(tensor));
        this.data = new MicrobatchReader(node, rank, tensorGroup);
        this.tensors = new RankTensors(this, node, data);
        this.thread = new RankThread("rank-" + rank, pulse::beat);
        this.exchanging = new RankThread("rank-" + rank + "-exchanges", pulse::beat);
    }

    private Optional<CollectiveGroup> join(GroupKind kind) {
        return node.groups().join(kind, rank, incarnation.epoch()).map(group -> new WatchedGroup(group, pulse));
    }

    Pulse pulse() {
        return pulse;
    }

    int rank() {
        return rank;
    }

    Incarnation incarnation() {
        return incarnation;
    }

    /** Steps that lay behind when this incarnation started. */
    long stepsDone() {
        return stepsDone;
    }

    /** The clock of the rank's works, for an engine that does not compute. */
    WorkClock clock() {
        return clock;
    }

    Outbox outbox() {
        return outbox;
    }

    List<Integer> stages() {
        return plan.stagesOf(rank);
    }

    Engine engine() {
        return engine;
    }

    /** The tensors between its stages and those of other ranks. */
    RankTensors tensors() {
        return tensors;
    }

    RankThread thread() {
        return thread;
    }

    RankMachine machine() {
        return new RankMachine(rank, plan.row(Pass.Kind.TRAINING, rank), plan.row(Pass.Kind.VALIDATION, rank));
    }

    /** Builds a stage, with the weights the run or this incarnation starts from, and grants its first credits. */
    void open(int index) {
        boolean isNew = stepsDone == node.firstStep();
        Stage stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(), share(), dataShare(),
                isNew ? node.weights() : NOTHING);
        StageWorker worker = new StageWorker(stage, engine, this, node);
        workers.put(index, worker);
        if (!isNew) {
            stage.loadOwn(snapshot(index));
        } else if (node.resumes()) {
            stage.load(node.weights());
        }
        worker.grantFirstCredits();
    }

    private WeightSource snapshot(int stage) {
        return node.snapshots().flatMap(kept -> kept.find(rank, stage, stepsDone))
                .orElseThrow(() -> new IllegalStateException(
                        "there is no snapshot of stage " + stage + " after " + stepsDone + " steps"));
    }

    private TensorShare share() {
        return tensorGroup
                .map(group -> new TensorShare(new EngineGroup(group, engine, this::waited), plan.sharesSequence()))
                .orElse(TensorShare.ALL);
    }

    private DataShare dataShare() {
        return dataGroup.map(group -> new DataShare(new EngineGroup(group, engine), plan.zero(), aside))
                .orElse(DataShare.ALL);
    }

    /** How long this rank's thread has waited for other ranks inside actions, in nanoseconds. That thread. */
    long waitedNanos() {
        return waitedNanos;
    }

    private void waited(long nanos) {
        waitedNanos += nanos;
    }

    /** What the stages have computed since this was last asked. One caller, while the rank's thread has nothing to do. */
    List<StageTime> newTimes() {
        return stages().stream().map(stage -> worker(stage).newTime()).toList();
    }

    StageWorker worker(int stage) {
        return workers.get(stage);
    }

    /** Turns what the transport says into messages for the schedule actor. */
    void listen(Consumer<ScheduleActor.Command> schedule) {
        node.faults().onStop(rank, why -> schedule.accept(new ScheduleActor.BreakDown(why)));
        node.transport().register(rank, new TransportListener() {
            @Override
            public void onLanded(MessageId id, Tensor tensor) {
                tensors.land(id, tensor, schedule);
            }

            @Override
            public void onSent(MessageId id, Tensor tensor) {
                outbox.sent(id.edge(), tensor);
            }

            @Override
            public void onReturned(Edge edge, Tensor tensor) {
                outbox.returned(edge, tensor);
            }

            @Override
            public void onEpoch(int epoch) {
                boolean isNew = outbox.enter(epoch);
                isLetGo = outbox.isRetired();
                if (isNew) {
                    schedule.accept(new ScheduleActor.EpochBegun(epoch));
                }
            }

            @Override
            public void onFault(TransportFault fault) {
                if (fault instanceof TransportFault.TransportEnded) {
                    outbox.retire(); // it gives everything back now, and takes no more
                }
                schedule.accept(new ScheduleActor.TransportFailed(fault));
            }
        });
    }

    /** What this rank has sent since this was last asked. One caller. */
    Traffic newTraffic() {
        Traffic all = new Traffic(outbox.bytesSent(), tensorGroup.map(CollectiveGroup::bytesSent).orElse(0L),
                dataGroup.map(CollectiveGroup::bytesSent).orElse(0L));
        Traffic fresh = all.since(toldTraffic);
        toldTraffic = all;
        return fresh;
    }

    /**
     * Writes weights and optimizer state of all stages to this rank's file. A tied table is written by its embedding. That
     * there is no room is an answer too: the rank can go on.
     */
    RunEvent writeCheckpoint(long stepsDone) {
        List<TensorPart> all = new ArrayList<>();
        for (int stage : stages()) {
            all.addAll(worker(stage).state());
        }
        try {
            return new RunEvent.CheckpointPartWritten(incarnation,
                    PartWriter.write(node, stepsDone, rank, all));
        } catch (CheckpointException unwritten) {
            return new RunEvent.CheckpointPartFailed(incarnation, unwritten.getMessage());
        }
    }

    /** Ends the collectives of this rank, and with them those of the ranks that are in them. Any thread. */
    void leaveGroups() {
        tensorGroup.ifPresent(CollectiveGroup::close);
        dataGroup.ifPresent(CollectiveGroup::close);
    }

    /** Ends this incarnation: whatever it still does has no effect. Its memory is freed by {@link #closeIfEnded}. */
    void retire() {
        outbox.retire();
        leaveGroups();
        node.faults().retire(rank);
        thread.abandon();
        exchanging.shutDown(); // what it still has fails at once, and whoever waits for that hears so
    }

    /** Where its thread stands, innermost call first. */
    List<StackTraceElement> stack() {
        return thread.stack();
    }

    /** The innermost calls of that in a line. */
    String whereItStands() {
        return stack().stream().limit(STACK_SHOWN).map(Object::toString).collect(Collectors.joining(" < "));
    }

    /** After {@link #retire}: frees all memory, unless a thread or the transport may still use it. */
    boolean closeIfEnded() {
        boolean hasEnded = isLetGo && thread.hasEnded() && exchanging.hasEnded();
        if (hasEnded) {
            free();
        }
        return hasEnded;
    }

    /** The stages take no more work, and wait for no other rank. */
    void shutDown() {
        outbox.retire();
        leaveGroups();
        node.faults().retire(rank);
        thread.shutDown();
    }

    /** After {@link #shutDown}: frees all memory, unless a stage still computes at the deadline. */
    void close(long deadlineNanos) {
        boolean hasEnded = thread.awaitEnd(deadlineNanos);
        exchanging.shutDown();
        if (hasEnded && exchanging.awaitEnd(deadlineNanos)) {
            free();
        } else {
            // Memory a thread still computes on must not be freed under it; it goes with the process.
            LOG.warn("rank {} still computes long after it was told to stop", rank);
        }
    }

    private void free() {
        workers.values().forEach(StageWorker::close);
        engine.close();
        data.close();
    }
}
