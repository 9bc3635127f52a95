package dev.troupe.plan.memory;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.engine.structural.SizingEngine;
import dev.troupe.layer.TensorPool;
import dev.troupe.offload.StateRegion;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.step.RankSide;
import dev.troupe.plan.step.StageOps;
import dev.troupe.plan.step.StepWatch;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.rank.RankRow;
import dev.troupe.protocol.rank.RowWalk;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.StageEdge;
import dev.troupe.stage.Stage;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;

/** A walk of one rank's rows with its stages, on an engine that counts bytes: it allocates every tensor that a run takes. */
final class MemoryWalk implements RankSide, StepWatch, AutoCloseable {
    /** A group for sizes only: its collectives do nothing. */
    private record Group(int size, int rank) implements TensorGroup {
        @Override
        public void allReduce(Tensor tensor) {
        }

        @Override
        public void allReduce(double[] values) {
        }

        @Override
        public void allReduceMax(Tensor tensor) {
        }

        @Override
        public void reduceScatter(Tensor whole, Tensor slice) {
        }

        @Override
        public void allGather(Tensor slice, Tensor whole) {
        }

        @Override
        public void allToAll(Tensor source, int[][] rows, Tensor target) {
        }
    }

    /** Empty, since no stage reads tokens if nothing is computed. */
    private static final MicrobatchRows NO_ROWS = new MicrobatchRows(0, true);
    /** The decision on the update, which computes nothing either. */
    private static final Optional<WeightUpdate> NO_UPDATE = Optional.of(new WeightUpdate(0, 0, 0, 1, false));

    private final TrainingPlan plan;
    private final int rank;
    private final Engine engine;
    private final Map<Integer, Stage> stages = new TreeMap<>();
    private final Map<Integer, StageOps> ops = new HashMap<>();
    private final long stateBytes;
    private final int snapshots;
    private final Map<Edge, Queue<Tensor>> granted = new HashMap<>();
    private final Map<Action, Tensor> handedOver = new HashMap<>();
    private final Map<Edge, Queue<Tensor>> sent = new HashMap<>();
    private long offloadedBytes;
    private long sentBytes;
    private long mostSentBytes;
    private Optional<String> fullestAt = Optional.empty();
    private Pass.Kind kind = Pass.Kind.TRAINING;

    /**
     * Makes the stages of a rank.
     *
     * @param snapshots the number of states that the rank keeps to restart inside a step; 0: none
     * @throws dev.troupe.plan.UsageException if a stage has a buffer that no engine supports
     */
    MemoryWalk(TrainingPlan plan, int rank, Engine engine, int snapshots) {
        this.plan = plan;
        this.snapshots = snapshots;
        this.rank = rank;
        this.engine = SizingEngine.like(engine);
        Coordinates at = plan.ranks().coordinates(rank);
        TensorShare share = new TensorShare(new Group(plan.ranks().tensor(), at.tensor()), plan.sharding());
        int expert = plan.ranks().expert();
        ExpertShare experts = expert == 1
                ? ExpertShare.ALL
                : new ExpertShare(new Group(expert, at.data() % expert),
                        new Group(plan.ranks().data() / expert, at.data() / expert),
                        plan.stageSettings().addsInTree());
        DataShare data = new DataShare(new Group(plan.ranks().holders(at.pipeline()), at.data()), plan.zero(),
                Runnable::run, experts, plan.trainsReplicas());
        for (int stage : plan.stagesOf(rank)) {
            fitting(stage, "", () -> stages.put(stage,
                    Stage.create(this.engine, plan.partition(), stage,
                            plan.stageSettings(stage).keepingAllHalves().storing(this::count),
                            share, data,
                            (name, shape, type, target) -> {
                                throw new IllegalStateException("nothing is loaded if only sizes count");
                            })));
        }
        this.stateBytes = this.engine.allocatedBytes();
        for (Stage stage : stages.values()) {
            ops.put(stage.index(), new StageOps(stage, this.engine, WorkClock.NONE, plan, this, this));
            fitting(stage.index(), "", ops.get(stage.index())::grantFirstCredits);
        }
    }

    /**
     * Walks the rank's row of a pass without other ranks: every receive succeeds at once.
     *
     * @throws dev.troupe.plan.UsageException if an action needs a tensor that no engine supports
     */
    void over(Pass.Kind pass) {
        kind = pass;
        RankRow row = plan.row(pass, rank);
        RowWalk walk = new RowWalk(row, pass == Pass.Kind.TRAINING);
        row.actions().stream().filter(action -> action.kind().isReceive()).forEach(walk::landed);
        for (int step = 0; step < plan.stepsPerPass(); step++) {
            walk.decided();
        }
        Optional<Action> next = walk.next();
        while (next.isPresent()) {
            Action action = next.get();
            long before = engine.allocatedBytes();
            fitting(action.stage(), action.toString(),
                    () -> ops.get(action.stage()).perform(action, new Pass(0, kind), NO_UPDATE));
            if (action.kind().isPerMicrobatch() && engine.allocatedBytes() > before) {
                fullestAt = Optional.of(kind == Pass.Kind.TRAINING ? action.toString() : action + " of validation");
            }
            if (!action.kind().isTransfer()) {
                walk.ended(action);
            }
            next = walk.next();
        }
        sent.forEach((edge, tensors) -> tensors.forEach(stages.get(plan.senderOf(edge)).boundary()::release));
        sent.clear();
        sentBytes = 0;
    }

    /** Opens no room in the store of a rank, and counts it. */
    private StateRegion count(long byteCount) {
        offloadedBytes += byteCount;
        return StateRegion.NOTHING;
    }

    private void fitting(int stage, String doing, Runnable work) {
        try {
            work.run();
        } catch (TooManyElementsException tooLarge) {
            throw SizeChecks.refusal(plan, rank, stage, doing, tooLarge);
        }
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public MicrobatchRows read(int stage, Pass pass, int microbatch) {
        return NO_ROWS;
    }

    /** Returns the longest: the announced memory holds for microbatches of the longest sequences. */
    @Override
    public int lengthOf(Pass pass, int microbatch) {
        return plan.stageSettings().sequenceLength();
    }

    @Override
    public Tensor take(Action receive, Pass pass, int rows) {
        return plan.needsMessage(receive)
                ? granted.get(plan.edgeOf(rank, receive)).remove()
                : handedOver.remove(receive);
    }

    @Override
    public void put(Action message, Pass pass, Tensor tensor) {
        handedOver.put(message, tensor);
    }

    @Override
    public void grant(Action receive, Tensor buffer) {
        granted.computeIfAbsent(plan.edgeOf(rank, receive), _ -> new ArrayDeque<>()).add(buffer);
    }

    @Override
    public void adopt(Stage by, int from, Tensor tensor) {
        by.boundary().adopt(tensor, stages.get(from).boundary());
    }

    @Override
    public void release(int stage, Tensor tensor) {
        stages.get(stage).boundary().release(tensor);
    }

    /**
     * Called before a stage makes another output. A send does not wait, so without snapshots the sender may hold as many
     * messages of an edge as can be unreceived without credits. With snapshots the log holds all.
     */
    @Override
    public void makes(Action send) {
        if (snapshots == 0 && plan.needsMessage(send)) {
            Queue<Tensor> tensors = sent.get(plan.edgeOf(rank, send));
            Certificate certificate = plan.certificate(kind);
            int unreceived = certificate.mostUnreceived()
                    .get(StageEdge.of(certificate.plan(), send));
            while (tensors != null && tensors.size() >= unreceived) {
                sentBytes -= tensors.element().byteCount();
                release(send.stage(), tensors.remove());
            }
        }
    }

    /** Counts a message; one that is sent once in a step is counted with the tensors in flight. */
    @Override
    public void send(Action send, Pass pass) {
        Tensor tensor = handedOver.remove(send);
        sent.computeIfAbsent(plan.edgeOf(rank, send), _ -> new ArrayDeque<>()).add(tensor);
        sentBytes += send.kind().isTransfer() ? tensor.byteCount() : 0;
        mostSentBytes = Math.max(mostSentBytes, sentBytes);
    }

    long keptBytes() {
        return stages.values().stream().mapToLong(stage -> Snapshots.layoutOf(stage.state()).byteCount()).sum();
    }

    /** Returns the memory of the rank, with its copies on other nodes. */
    RankMemory result() {
        long weights = stages.values().stream().mapToLong(Stage::weightBytes).sum();
        long gradients = stages.values().stream().mapToLong(Stage::gradientBytes).sum();
        long boundary = bytes(granted) + mostSentBytes;
        TensorPool.Free free = stages.values().stream().map(stage -> stage.boundary().free())
                .reduce(TensorPool.Free.NONE, TensorPool.Free::and);
        return new RankMemory(rank, weights, gradients, stateBytes - weights - gradients,
                new RankMemory.Activations(engine.allocatedBytes() - stateBytes - boundary, free, fullestAt), boundary,
                0, 0, offloadedBytes).keeping(keptBytes(), snapshots);
    }

    private static long bytes(Map<Edge, Queue<Tensor>> tensors) {
        return tensors.values().stream().flatMap(Queue::stream).mapToLong(Tensor::byteCount).sum();
    }

    @Override
    public void close() {
        stages.values().forEach(Stage::close);
        engine.close();
    }
}
