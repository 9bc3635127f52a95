package dev.troupe.plan;

import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.engine.structural.SizingEngine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.model.Stage;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.Edge;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.snapshot.SnapshotLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;

/** One rank's stages on an engine that counts bytes, and a walk along its rows that takes every tensor a run takes. */
final class MemoryWalk implements AutoCloseable {
    /** A group as far as sizes go: what the others would send is not there, and neither is anything else. */
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
        public void broadcast(Tensor tensor, int root) {
        }
    }

    /** Where nothing is computed nobody looks at tokens. */
    private static final int[] NO_IDS = {};

    private final TrainingPlan plan;
    private final int rank;
    private final Coordinates at;
    private final Engine engine;
    private final Map<Integer, Stage> stages = new TreeMap<>();
    private final Map<Integer, Action> lastBackwards = new HashMap<>();
    private final long stateBytes;
    private final int snapshots;
    // Granted to the transport, by the receive of microbatch 0 that stands for the edge.
    private final Map<Action, Queue<Tensor>> granted = new HashMap<>();
    private final Map<Action, Tensor> handedOver = new HashMap<>();
    private long sentBytes;
    private final Map<Edge, Queue<Tensor>> sent = new HashMap<>();
    private Map<Edge, Integer> unreceived = Map.of();
    private long mostSentBytes;

    /**
     * Makes the stages of a rank.
     *
     * @param snapshots
     *            how often the rank keeps what it needs to start again inside a step; 0 where it does not
     * @throws UsageException
     *             where a stage has a buffer that no engine can have
     */
    MemoryWalk(TrainingPlan plan, int rank, Engine engine, int snapshots) {
        this.plan = plan;
        this.snapshots = snapshots;
        this.rank = rank;
        this.engine = SizingEngine.like(engine);
        this.at = plan.ranks().coordinates(rank);
        TensorShare share = new TensorShare(new Group(plan.ranks().tensor(), at.tensor()), plan.sharesSequence());
        DataShare data = new DataShare(new Group(plan.ranks().data(), at.data()), plan.zero(),
                Runnable::run);
        for (int stage : plan.stagesOf(rank)) {
            fitting(stage, null, () -> stages.put(stage,
                    Stage.create(this.engine, plan.partition(), stage, plan.stageSettings(), share, data,
                            (name, shape, type, target) -> {
                                throw new IllegalStateException("nothing is loaded where only sizes count");
                            })));
            lastBackwards.put(stage, plan.lastBackward(rank, stage));
        }
        this.stateBytes = this.engine.allocatedBytes();
        for (Stage stage : stages.values()) {
            fitting(stage.index(), null, () -> {
                grantCredits(stage, Kind.RECV_F);
                grantCredits(stage, Kind.RECV_B);
            });
            if (plan.exchangesTiedGradient(stage.index())) {
                Tensor other = stage.takeTiedGradient();
                stage.release(stage.takeTiedGradient());
                stage.release(other);
            }
        }
    }

    private void grantCredits(Stage stage, Kind receive) {
        Action any = new Action(stage.index(), receive, 0);
        if (plan.needsMessage(any)) {
            Queue<Tensor> tensors = new ArrayDeque<>();
            for (int credit = 0; credit < plan.creditsPerEdge(); credit++) {
                tensors.add(stage.takeBoundary());
            }
            granted.put(any, tensors);
        }
    }

    /**
     * Does the rank's row of a plan.
     *
     * @throws UsageException
     *             where an action needs a tensor that no engine can have
     */
    void over(Certificate certificate) {
        unreceived = certificate.mostUnreceived();
        for (Action action : certificate.plan().rows().get(at.pipeline())) {
            fitting(action.stage(), action, () -> does(action, certificate.purpose()));
        }
        sent.forEach((edge, tensors) -> tensors.forEach(stages.get(edge.fromStage())::release));
        sent.clear();
        sentBytes = 0;
        if (certificate.purpose() == Purpose.TRAINING) {
            stages.values().forEach(Stage::reduceReplicatedGradients);
        }
    }

    private void fitting(int stage, Action doing, Runnable work) {
        try {
            work.run();
        } catch (TooManyElementsException tooLarge) {
            throw SizeChecks.refusal(plan, rank, stage, doing == null ? "" : doing.toString(), tooLarge);
        }
    }

    private void does(Action action, Purpose purpose) {
        Stage stage = stages.get(action.stage());
        int microbatch = action.microbatch();
        if (action.equals(lastBackwards.get(action.stage()))) {
            stage.lastBackwardFollows();
        }
        switch (action.kind()) {
            case FORWARD -> {
                Tensor input = stage.hasEmbedding() ? null : receive(stage, action.as(Kind.RECV_F));
                makeRoom(action.as(Kind.SEND_F), stage.hasHead());
                handOver(action.as(Kind.SEND_F), switch (purpose) {
                    case TRAINING -> stage.forward(microbatch, input, NO_IDS, NO_IDS);
                    case FORWARD_ONLY -> stage.forwardOnly(microbatch, input, NO_IDS, NO_IDS);
                });
            }
            case FULL_BACKWARD, BACKWARD_INPUT -> {
                Tensor gradient = stage.hasHead() ? null : receive(stage, action.as(Kind.RECV_B));
                makeRoom(action.as(Kind.SEND_B), stage.hasEmbedding());
                handOver(action.as(Kind.SEND_B), action.kind() == Kind.FULL_BACKWARD
                        ? stage.backward(microbatch, gradient)
                        : stage.backwardInput(microbatch, gradient));
            }
            case BACKWARD_WEIGHT -> stage.backwardWeight(microbatch);
            case SEND_F, SEND_B -> send(action);
            case RECV_F, RECV_B -> {
            }
        }
    }

    private Tensor receive(Stage stage, Action receive) {
        if (plan.needsMessage(receive)) {
            Queue<Tensor> tensors = granted.get(new Action(receive.stage(), receive.kind(), 0));
            Tensor landed = tensors.remove();
            tensors.add(stage.takeBoundary());
            return landed;
        }
        Tensor own = stage.takeBoundary();
        stages.get(receive.peerStage()).release(handedOver.remove(receive));
        return own;
    }

    private void handOver(Action send, Tensor tensor) {
        if (tensor != null) {
            handedOver.put(plan.needsMessage(send) ? send : send.peer(), tensor);
        }
    }

    /** Before a stage makes one more: at most so many as can be unreceived are at the transport then, or all in the log. */
    private void makeRoom(Action send, boolean isEnd) {
        if (!isEnd && snapshots == 0 && plan.needsMessage(send)) {
            Edge edge = Edge.of(plan.training().plan(), send);
            Queue<Tensor> tensors = sent.get(edge);
            while (tensors != null && tensors.size() >= unreceived.get(edge)) {
                sentBytes -= tensors.element().byteCount();
                stages.get(send.stage()).release(tensors.remove());
            }
        }
    }

    private void send(Action send) {
        Tensor tensor = handedOver.remove(send);
        sent.computeIfAbsent(Edge.of(plan.training().plan(), send), edge -> new ArrayDeque<>()).add(tensor);
        sentBytes += tensor.byteCount();
        mostSentBytes = Math.max(mostSentBytes, sentBytes);
    }

    /** Bytes of one snapshot. */
    long keptBytes() {
        return stages.values().stream().mapToLong(stage -> SnapshotLayout.of(stage.state()).byteCount()).sum();
    }

    /** What the rank takes, with copies elsewhere. */
    RankMemory result() {
        long weights = stages.values().stream().mapToLong(Stage::weightBytes).sum();
        long gradients = stages.values().stream().mapToLong(Stage::gradientBytes).sum();
        long boundary = bytes(granted) + mostSentBytes;
        return new RankMemory(rank, weights, gradients, stateBytes - weights - gradients,
                engine.allocatedBytes() - stateBytes - boundary, boundary, 0, 0).keeping(keptBytes(), snapshots);
    }

    private static long bytes(Map<?, Queue<Tensor>> tensors) {
        return tensors.values().stream().flatMap(Queue::stream).mapToLong(Tensor::byteCount).sum();
    }

    @Override
    public void close() {
        stages.values().forEach(Stage::close);
        engine.close();
    }
}
