package dev.troupe.rank;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.offload.StateStore;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.step.StageOps;
import dev.troupe.plan.step.StepHook;
import dev.troupe.plan.step.StepWatch;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.bits.BitRecorder;
import dev.troupe.rank.fault.RankFaults;
import dev.troupe.rank.group.RankCollectives;
import dev.troupe.rank.pulse.Pulse;
import dev.troupe.rank.trace.RankTrace;
import dev.troupe.stage.Stage;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources that the stages of one rank share: engine, outbox, the tensors between stages, the rank's groups. Thread
 * rule: {@link #open} on the rank's thread, {@link #newTraffic} by one caller, the rest on any thread. The node closes them
 * after the rank's actors and after the transport, which reads and writes tensors.
 */
public final class RankResources {
    private static final Logger LOG = LoggerFactory.getLogger(RankResources.class);

    /** Random source for weights that are overwritten immediately. */
    static final WeightSource NOTHING = (_, _, _, _) -> {
    };

    private final Incarnation incarnation;
    private final long stepsDone;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final Pulse pulse = new Pulse();
    private final Engine engine;
    private final StateStore store;
    private final WorkClock clock;
    private final StepHook hook;
    private final RankMessages messages;
    private final RankCollectives collectives;
    private final MicrobatchReader data;
    private final Boundaries boundaries;
    private final Outbox<Tensor> outbox;
    private final RankTrace trace;
    private final BitRecorder bits;
    private final RankTensors tensors;
    private final StepWatch watch;
    private Traffic reportedTraffic = Traffic.NONE;

    /** @param stepsDone steps done at the start; the weights are those after them */
    public RankResources(Incarnation incarnation, long stepsDone, NodeContext node) {
        int rank = incarnation.rank();
        this.incarnation = incarnation;
        this.stepsDone = stepsDone;
        this.node = node;
        this.plan = node.plan();
        this.messages = plan.messages(rank);
        CheckedEngine opened = node.devices().engines().apply(rank);
        RankFaults faults = node.faults().ofRank(rank, plan.rows());
        opened.observe(faults.after(pulse, opened));
        this.engine = opened;
        this.store = engine.holdsValues() ? node.devices().stores().apply(rank) : StateStore.NOTHING;
        this.hook = faults.hook();
        this.clock = node.devices().clocks().get();
        this.collectives = new RankCollectives(node.links().groups(), incarnation, plan, engine, pulse);
        this.data = new MicrobatchReader(node, rank, collectives);
        this.boundaries = new Boundaries(node.links().transport(), engine, messages);
        this.outbox = new Outbox<>(rank, boundaries, node.recovery().snapshots().isPresent(), incarnation.epoch());
        this.trace = new RankTrace(rank, incarnation.epoch(), plan.row(Pass.Kind.TRAINING, rank).actions(),
                node.pauses(), engine);
        this.bits = new BitRecorder(rank, plan, engine);
        this.tensors = new RankTensors(messages, data, engine, outbox, boundaries, trace, hook);
        this.watch = new RankWatch(rank, node, engine, outbox, bits, hook);
    }

    public int rank() {
        return incarnation.rank();
    }

    public Incarnation incarnation() {
        return incarnation;
    }

    public long stepsDone() {
        return stepsDone;
    }

    public TrainingPlan plan() {
        return plan;
    }

    public List<Integer> stages() {
        return plan.stagesOf(rank());
    }

    public Pulse pulse() {
        return pulse;
    }

    public Outbox<Tensor> outbox() {
        return outbox;
    }

    public RankMessages messages() {
        return messages;
    }

    public RankTensors tensors() {
        return tensors;
    }

    /** Returns a new machine for the rank; it obeys the coordinator under which the incarnation was started. */
    public RankMachine machine() {
        return new RankMachine(rank(), incarnation.term(), plan.row(Pass.Kind.TRAINING, rank()),
                plan.row(Pass.Kind.VALIDATION, rank()));
    }

    public RankTelemetry telemetry(RankTelemetry.Receiver receiver) {
        return new RankTelemetry(rank(), plan, trace, bits, data::relativeLength, receiver);
    }

    /** Builds a stage with the weights from which the run or this incarnation starts, and grants its first credits. */
    public StageWorker open(int index) {
        boolean isNew = stepsDone == node.start().firstStep();
        Stage stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(index).storing(store),
                collectives.tensorShare(), collectives.dataShare(), isNew ? node.start().weights() : this::readFrozen);
        bits.watch(stage);
        boundaries.add(stage);
        if (!isNew) {
            stage.loadOwn(snapshot(index));
        } else if (node.start().resumes()) {
            stage.load(node.start().weights());
        }
        StageOps ops = new StageOps(stage, engine, clock, plan, tensors, watch);
        ops.grantFirstCredits();
        return new StageWorker(stage, engine, ops, hook, trace, bits, collectives.thread(), plan.endOfUpdate());
    }

    /** Reads only the frozen weights; snapshots do not contain them. */
    private void readFrozen(String name, Shape shape, DataType type, MemorySegment target) {
        if (!plan.model().parameters().get(name).isTrained()) {
            node.start().weights().read(name, shape, type, target);
        }
    }

    private WeightSource snapshot(int stage) {
        return node.recovery().snapshots().flatMap(kept -> kept.find(rank(), stage, stepsDone))
                .orElseThrow(() -> new IllegalStateException(
                        "there is no snapshot of stage " + stage + " after " + stepsDone + " steps"));
    }

    /** Registers the rank at the node's transport; its events go to the listener. */
    public void listen(RankListener listener) {
        node.faults().onStop(rank(), listener::breakDown);
        node.links().transport().register(rank(), new RankInbox(messages, tensors, trace, outbox, listener));
    }

    /** Returns the traffic of this rank since the last call. */
    public Traffic newTraffic() {
        Traffic all = new Traffic(outbox.bytesSent(), collectives.tensorBytesSent(), collectives.dataBytesSent(),
                collectives.expertBytesSent());
        Traffic fresh = all.since(reportedTraffic);
        reportedTraffic = all;
        return fresh;
    }

    /** Writes the parts of all stages to this rank's file. A full disk is a result too: the rank can continue. */
    public RunEvent writeCheckpoint(long stepsDone, List<TensorPart> parts) {
        try {
            return new RunEvent.CheckpointPartWritten(incarnation, PartWriter.write(node, stepsDone, rank(), parts));
        } catch (CheckpointException unwritten) {
            return new RunEvent.CheckpointPartFailed(incarnation, unwritten.getMessage());
        }
    }

    /** Ends the collectives of this rank, and thereby the collectives of the other members of its groups. */
    public void leaveGroups() {
        collectives.leave();
    }

    /** Ends this incarnation: it sends nothing more, and waits for no other rank. */
    public void letGo() {
        outbox.retire();
        leaveGroups();
        node.faults().retire(rank());
        collectives.thread().shutDown(); // the tasks that it has fail at once, and so does the stage that waits for them
    }

    /** Frees all memory, unless the transport may still use it. Called after {@link #letGo} and the end of the actors. */
    public boolean closeIfEnded() {
        boolean hasEnded = outbox.isReleased() && collectives.thread().hasEnded();
        if (hasEnded) {
            free();
        }
        return hasEnded;
    }

    /** Frees all memory. Called after {@link #letGo} and the end of the actors and of the transport. */
    public void close(long deadlineNanos) {
        if (collectives.thread().awaitEnd(deadlineNanos)) {
            free();
        } else {
            // The memory is not freed while a thread computes on it; it is lost until the process ends.
            LOG.warn("rank {} still exchanges tensors long after it was stopped", rank());
        }
    }

    private void free() {
        trace.close();
        store.close();
        engine.close();
        data.close();
    }
}
