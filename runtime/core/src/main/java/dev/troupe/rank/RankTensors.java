package dev.troupe.rank;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.engine.Tensor;
import dev.troupe.fault.Carried;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.stage.Stage;
import dev.troupe.step.RankSide;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tensors of one rank that are between two stages: landed and not yet computed with, or computed and not yet handed
 * to the transport. The key is the message and its pass: the receive of a tensor that has landed, the send of a tensor that
 * a stage has made. Stages of one rank hand a tensor over under the key of the receive.
 *
 * <p>Thread rule: any thread, but for what stages ask.
 */
public final class RankTensors implements RankSide {
    private record Key(long pass, Action message) {
    }

    /** A tensor, of which a message fills the first rows. */
    private record Held(Tensor tensor, int rows) {
    }

    private final RankResources rank;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final MicrobatchReader data;
    private final StepPoints points;
    private final Map<Key, Held> tensors = new ConcurrentHashMap<>();

    RankTensors(RankResources rank, NodeContext node, MicrobatchReader data) {
        this.rank = rank;
        this.node = node;
        this.plan = node.plan();
        this.data = data;
        this.points = new StepPoints(node.faults(), rank.flips(), rank.rank(), plan);
    }

    /** The points at which faults may strike the rank. */
    StepPoints points() {
        return points;
    }

    /** Takes in a message of so many rows that has landed for a receive; returns false, and does not, if it came before. */
    boolean land(Action receive, long pass, Tensor tensor, int rows) {
        return tensors.putIfAbsent(new Key(pass, receive), new Held(tensor, rows)) == null;
    }

    /** Gives the buffer of a message that is not wanted back to the transport. */
    public void discard(Action receive, long pass) {
        grant(receive, take(receive, pass).tensor());
    }

    /** The messages that these receives have fulfilled. */
    public List<MessageKey> keys(List<Action> received) {
        return received.stream().map(receive -> plan.keyOf(rank(), receive)).toList();
    }

    private Held take(Action message, long pass) {
        Held held = tensors.remove(new Key(pass, message));
        if (held == null) {
            throw new IllegalStateException("the tensor of " + message + " is not here");
        }
        return held;
    }

    @Override
    public int rank() {
        return rank.rank();
    }

    @Override
    public MicrobatchRows read(int stage, Pass pass, int microbatch) {
        if (data.isReader()) {
            rank.trace().reads(() -> {
                points.reads(stage, pass, microbatch);
                data.read(pass, microbatch);
            });
        }
        long start = System.nanoTime();
        MicrobatchRows rows = data.share(pass, microbatch);
        rank.waited(System.nanoTime() - start);
        return rows;
    }

    @Override
    public int lengthOf(Pass pass, int microbatch) {
        return data.lengthOf(pass.kind(), pass.step(), microbatch);
    }

    /** The length of the sequences of an action's microbatch over that of the run's longest. */
    public double share(Pass pass, Action action) {
        int length = data.lengthOf(pass.kind(), pass.step() + plan.stepInRow(pass.kind(), action),
                plan.microbatchInStep(pass.kind(), action));
        return (double) length / plan.stageSettings().sequenceLength();
    }

    @Override
    public Tensor take(Action receive, Pass pass, int rows) {
        if (receive.kind().isTransfer()) {
            points.at(FaultPoint.RECEIVE, pass, receive);
        }
        Held held = take(receive, pass.number());
        if (held.rows() != rows) { // a checksum covers the header of a message, so its sender was wrong
            throw new IllegalStateException("the tensor of " + receive + " has " + held.rows() + " rows, but must have "
                    + rows);
        }
        return held.tensor();
    }

    @Override
    public void put(Action message, Pass pass, Tensor tensor) {
        Held held = new Held(tensor, tensor.shape().size(0));
        if (tensors.putIfAbsent(new Key(pass.number(), message), held) != null) {
            throw new IllegalStateException("the tensor of " + message + " is here already");
        }
    }

    @Override
    public void send(Action send, Pass pass) {
        Tensor tensor = take(send, pass.number()).tensor();
        if (pass.kind() == Pass.Kind.TRAINING) {
            rank.trace().handed(send, tensor.byteCount());
            rank.flips().send(rank.engine(), send.stage(), pass.step() + plan.stepInRow(pass.kind(), send),
                    plan.microbatchInStep(pass.kind(), send), Carried.by(send.kind()), tensor);
        }
        rank.outbox().send(plan.keyOf(rank(), send), tensor);
    }

    @Override
    public void grant(Action receive, Tensor buffer) {
        rank.outbox().grant(plan.edgeOf(rank(), receive), buffer);
    }

    @Override
    public void release(int stage, Tensor tensor) {
        rank.release(stage, tensor);
    }

    @Override
    public void enters(int stepInRow) {
        rank.bits().enter(stepInRow);
    }

    @Override
    public void updated(Stage stage) {
        rank.bits().weights(stage);
    }

    @Override
    public void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
        if (pass.kind() == Pass.Kind.VALIDATION) {
            return;
        }
        if (receive.kind() == Kind.RECV_F) {
            rank.bits().receivedActivation(stage, receive.microbatch(), tensor);
        } else {
            rank.bits().receivedGradient(stage, receive.microbatch(), tensor);
        }
    }

    @Override
    public void measuredLoss(Stage stage, int microbatch, double loss) {
        rank.bits().loss(stage, microbatch, loss);
    }

    @Override
    public void measured(Stage stage, Pass pass) {
        rank.bits().finalGradients(stage);
        node.gradientDump().filter(dump -> dump.wants(pass.step()))
                .ifPresent(dump -> dump.add(rank(), stage.index(),
                        StageWorker.parts(rank.engine(), stage.gradients())));
    }

    @Override
    public void keep(Stage stage, Pass pass) {
        if (!plan.training().plan().continues()) {
            rank.bits().weights(stage);
        }
        long stepsDone = pass.step() + 1;
        if (node.snapshots().isPresent() && !rank.outbox().isRetired()
                && points.keepsSnapshot(stage.index(), pass.step())) {
            node.snapshots().get().keep(rank(), stage.index(), stepsDone, rank.engine(), stage.state());
            node.copies().kept(rank(), stage.index(), stepsDone);
        }
    }
}
