package dev.troupe.rank;

import dev.troupe.bits.BitRecorder;
import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.fault.BitFlips;
import dev.troupe.fault.FlippingHook;
import dev.troupe.group.EngineGroup;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.pulse.Pulse;
import dev.troupe.pulse.WatchedGroup;
import dev.troupe.stage.Stage;
import dev.troupe.trace.RankTrace;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources that the stages of one rank share: engine, outbox, the tensors between stages, the rank's groups.
 *
 * <p>Thread rule: {@link #open} and {@link #waitedNanos} on the rank's thread, the rest on any. Closed by the node, after
 * the transport (which reads and writes tensors) and after the rank's actors.
 */
public final class RankResources {
    private static final Logger LOG = LoggerFactory.getLogger(RankResources.class);

    /** A source for what is overwritten at once. */
    static final WeightSource NOTHING = (_, _, _, _) -> {
    };

    private final int rank;
    private final Incarnation incarnation;
    private final long stepsDone;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final Pulse pulse = new Pulse();
    private final BitFlips flips;
    private final Engine engine;
    private final WorkClock clock;
    private final RankTensors tensors;
    private final Optional<CollectiveGroup> tensorGroup;
    private final Optional<CollectiveGroup> dataGroup;
    private final MicrobatchReader data;
    private final Outbox<Tensor> outbox;
    private final ExchangeThread exchanges;
    private final RankTrace trace;
    private final BitRecorder bits;
    private Traffic toldTraffic = Traffic.NONE;
    /** For each stage what takes a boundary tensor back, on any thread. */
    private final Map<Integer, Consumer<Tensor>> boundaries = new ConcurrentHashMap<>();

    /**
     * @param stepsDone steps that lie behind when it starts: the weights are those after them
     */
    public RankResources(Incarnation incarnation, long stepsDone, NodeContext node) {
        this.rank = incarnation.rank();
        this.incarnation = incarnation;
        this.stepsDone = stepsDone;
        this.node = node;
        this.plan = node.plan();
        this.flips = node.faults().bitsOf(rank);
        CheckedEngine opened = node.engines().apply(rank);
        opened.observe(flips.areAsked() ? new FlippingHook(pulse, opened, flips) : pulse);
        this.engine = opened;
        this.clock = node.clocks().get();
        this.tensorGroup = join(GroupKind.TENSOR);
        this.dataGroup = join(GroupKind.DATA);
        this.outbox = new Outbox<>(rank,
                new OutboxTransport(node.transport(), engine,
                        (edge, tensor) -> release(plan.senderOf(edge), tensor)),
                node.snapshots().isPresent(), incarnation.epoch());
        this.data = new MicrobatchReader(node, rank, tensorGroup);
        this.trace = new RankTrace(rank, incarnation.epoch(),
                plan.training().plan().rows().get(rank / plan.ranksPerPlace()),
                node.pauses(), engine);
        this.bits = new BitRecorder(rank, plan, engine);
        this.tensors = new RankTensors(this, node, data);
        this.exchanges = new ExchangeThread(rank);
    }

    private Optional<CollectiveGroup> join(GroupKind kind) {
        return node.groups().join(kind, rank, incarnation.epoch()).map(group -> new WatchedGroup(group, pulse));
    }

    public Pulse pulse() {
        return pulse;
    }

    public int rank() {
        return rank;
    }

    public Incarnation incarnation() {
        return incarnation;
    }

    /** Steps that lay behind when this incarnation started. */
    public long stepsDone() {
        return stepsDone;
    }

    /** The clock of the rank's works, for an engine that does not compute. */
    WorkClock clock() {
        return clock;
    }

    public Outbox<Tensor> outbox() {
        return outbox;
    }

    public List<Integer> stages() {
        return plan.stagesOf(rank);
    }

    Engine engine() {
        return engine;
    }

    /** Its trace of a step. */
    public RankTrace trace() {
        return trace;
    }

    /** The bits of it that are flipped on purpose. */
    BitFlips flips() {
        return flips;
    }

    /** The digests of what it computes in a step. */
    public BitRecorder bits() {
        return bits;
    }

    /** The tensors between its stages and those of other ranks. */
    public RankTensors tensors() {
        return tensors;
    }

    /** The plan of the run. */
    public TrainingPlan plan() {
        return plan;
    }

    /** Returns a new machine for the rank, which obeys the coordinator under which it was started. */
    public RankMachine machine() {
        return new RankMachine(rank, incarnation.term(), plan.row(Pass.Kind.TRAINING, rank),
                plan.row(Pass.Kind.VALIDATION, rank));
    }

    /** Builds a stage, with the weights the run or this incarnation starts from, and grants its first credits. */
    public StageWorker open(int index) {
        boolean isNew = stepsDone == node.firstStep();
        Stage stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(index), share(), dataShare(),
                isNew ? node.weights() : this::readFrozen);
        bits.watch(stage);
        StageWorker worker = new StageWorker(stage, engine, this, node);
        boundaries.put(index, stage::release);
        if (!isNew) {
            stage.loadOwn(snapshot(index));
        } else if (node.resumes()) {
            stage.load(node.weights());
        }
        worker.grantFirstCredits();
        return worker;
    }

    /** The frozen weights alone, which no snapshot has. */
    private void readFrozen(String name, Shape shape, DataType type, MemorySegment target) {
        if (!plan.model().parameters().get(name).isTrained()) {
            node.weights().read(name, shape, type, target);
        }
    }

    /** Gives a boundary tensor back to the stage that made it. */
    void release(int stage, Tensor boundary) {
        boundaries.get(stage).accept(boundary);
    }

    private WeightSource snapshot(int stage) {
        return node.snapshots().flatMap(kept -> kept.find(rank, stage, stepsDone))
                .orElseThrow(() -> new IllegalStateException(
                        "there is no snapshot of stage " + stage + " after " + stepsDone + " steps"));
    }

    private TensorShare share() {
        return tensorGroup
                .map(group -> new TensorShare(new EngineGroup(group, engine, exchanges::waited), plan.sharesSequence()))
                .orElse(TensorShare.ALL);
    }

    private Reduction sumOfGradients() {
        return plan.stageSettings().roundsGradients() ? Reduction.SUM_OF_ROUNDED : Reduction.SUM;
    }

    private DataShare dataShare() {
        return dataGroup
                .map(group -> new DataShare(new EngineGroup(group, engine, sumOfGradients()), plan.zero(), exchanges))
                .orElse(DataShare.ALL);
    }

    /** The rank has waited for others inside an action, in nanoseconds. */
    void waited(long nanos) {
        exchanges.waited(nanos);
    }

    /** How long the stages have waited for other ranks inside actions, in nanoseconds. */
    long waitedNanos() {
        return exchanges.waitedNanos();
    }

    /** Registers the rank at the node's transport, whose events go to the listener. */
    public void listen(RankListener listener) {
        node.faults().onStop(rank, listener::breakDown);
        node.transport().register(rank, new RankInbox(plan, tensors, trace, outbox, listener));
    }

    /** The traffic of this rank since the last call. One caller. */
    public Traffic newTraffic() {
        Traffic all = new Traffic(outbox.bytesSent(), tensorGroup.map(CollectiveGroup::bytesSent).orElse(0L),
                dataGroup.map(CollectiveGroup::bytesSent).orElse(0L));
        Traffic fresh = all.since(toldTraffic);
        toldTraffic = all;
        return fresh;
    }

    /**
     * Writes the parts of all stages to this rank's file. That there is no room is an answer too: the rank can go on.
     */
    public RunEvent writeCheckpoint(long stepsDone, List<TensorPart> parts) {
        try {
            return new RunEvent.CheckpointPartWritten(incarnation,
                    PartWriter.write(node, stepsDone, rank, parts));
        } catch (CheckpointException unwritten) {
            return new RunEvent.CheckpointPartFailed(incarnation, unwritten.getMessage());
        }
    }

    /** Ends the collectives of this rank, and with them those of the ranks that are in them. Any thread. */
    public void leaveGroups() {
        tensorGroup.ifPresent(CollectiveGroup::close);
        dataGroup.ifPresent(CollectiveGroup::close);
    }

    /** Ends this incarnation: it hands nothing over any more, and waits for no other rank. */
    public void letGo() {
        outbox.retire();
        leaveGroups();
        node.faults().retire(rank);
        exchanges.shutDown(); // what it still has fails at once, and the stage that waits for it hears so
    }

    /** After {@link #letGo} and the end of the actors: frees all memory, unless the transport may still use it. */
    public boolean closeIfEnded() {
        boolean hasEnded = outbox.isReleased() && exchanges.hasEnded();
        if (hasEnded) {
            free();
        }
        return hasEnded;
    }

    /** After {@link #letGo} and the end of the actors and of the transport: frees all memory. */
    public void close(long deadlineNanos) {
        if (exchanges.awaitEnd(deadlineNanos)) {
            free();
        } else {
            // Memory a thread still computes on must not be freed under it; it goes with the process.
            LOG.warn("rank {} still exchanges tensors long after it was told to stop", rank);
        }
    }

    private void free() {
        trace.close();
        engine.close();
        data.close();
    }
}
