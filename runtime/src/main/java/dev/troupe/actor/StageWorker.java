package dev.troupe.actor;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.machine.MicrobatchLoss;
import dev.troupe.machine.MessageKey;
import dev.troupe.machine.Pass;
import dev.troupe.machine.StageTask;
import dev.troupe.machine.StageTime;
import dev.troupe.machine.WeightUpdate;
import dev.troupe.model.LayerSquaredSum;
import dev.troupe.model.Stage;
import dev.troupe.model.StateTensor;
import dev.troupe.model.TiedEnd;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.transport.Edge;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Does the tasks of one stage: straight-line code between the rank's tensors, the stage and the transport.
 *
 * <p>Thread rule: the rank's thread, but for {@link #release} and {@link #keepTiedGradient}, which the transport's thread
 * calls, and {@link #state}.
 */
final class StageWorker implements AutoCloseable {
    private final Stage stage;
    private final Engine engine;
    private final WorkClock clock;
    private final RankResources rank;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final Coordinates at;
    private final MicrobatchReader data;
    private final Action lastBackward;
    private final StepPoints points;
    private final ComputeTimes times;
    private final AtomicReference<Tensor> otherTiedGradient = new AtomicReference<>();

    StageWorker(Stage stage, Engine engine, RankResources rank, NodeContext node) {
        this.stage = stage;
        this.engine = engine;
        this.clock = rank.clock();
        this.rank = rank;
        this.node = node;
        this.plan = node.plan();
        this.at = plan.ranks().coordinates(rank.rank());
        this.data = rank.data();
        this.points = new StepPoints(node.faults(), rank.rank());
        this.times = new ComputeTimes(stage.index());
        this.lastBackward = plan.lastBackward(rank.rank(), stage.index());
    }

    /** Does a task and hands its sends to the transport. */
    TaskResult run(TaskRequest request) {
        long waited = rank.waitedNanos();
        long start = System.nanoTime();
        TaskResult result = points.around(request, () -> work(request));
        times.add(request, System.nanoTime() - start - (rank.waitedNanos() - waited));
        request.sends().forEach(send -> {
            points.at(FaultPoint.SEND, request.pass(), send);
            rank.send(send);
        });
        return result;
    }

    private TaskResult work(TaskRequest request) {
        return switch (request.task()) {
            case StageTask.Compute(Action action) -> traced(action, request.pass());
            case StageTask.ExchangeTiedGradient _ -> exchangeTiedGradient();
            case StageTask.AddTiedGradient _ -> addTiedGradient();
            case StageTask.MeasureGradients _ -> measureGradients(request.pass());
            case StageTask.Update _ -> update(request.update().orElseThrow());
        };
    }

    /** What was computed since this was last asked. */
    StageTime newTime() {
        return times.take();
    }

    /** Gives the transport as many buffers for each way into this stage as the plan declares credits. */
    void grantFirstCredits() {
        for (Kind receive : List.of(Kind.RECV_F, Kind.RECV_B)) {
            Action any = new Action(stage.index(), receive, 0);
            if (plan.needsMessage(any)) {
                for (int credit = 0; credit < plan.creditsPerEdge(); credit++) {
                    grant(plan.edgeOf(rank.rank(), any));
                }
            }
        }
    }

    private void grant(Edge edge) {
        rank.outbox().grant(edge, stage.takeBoundary());
    }

    private TaskResult traced(Action action, Pass pass) {
        if (pass.kind() != Pass.Kind.TRAINING || !isFirstOfItsKind()) {
            return compute(action, pass);
        }
        long start = System.nanoTime();
        TaskResult result = compute(action, pass);
        node.trace().add(pass.step(), at.pipeline(), action, start, System.nanoTime());
        return result;
    }

    private TaskResult compute(Action action, Pass pass) {
        int microbatch = action.microbatch();
        if (action.equals(lastBackward)) {
            stage.lastBackwardFollows();
        }
        switch (action.kind()) {
            case FORWARD -> {
                return forward(action, pass);
            }
            case FULL_BACKWARD -> backward(action, pass, Work.BACKWARD, stage::backward);
            case BACKWARD_INPUT -> backward(action, pass, Work.BACKWARD_INPUT, stage::backwardInput);
            case BACKWARD_WEIGHT -> backwardWeight(microbatch);
            case SEND_F, RECV_F, SEND_B, RECV_B -> throw new IllegalStateException(action + " is not for a stage");
        }
        return TaskResult.NOTHING;
    }

    private TaskResult forward(Action action, Pass pass) {
        int microbatch = action.microbatch();
        Tensor input = stage.hasEmbedding() ? null : receive(action.as(Kind.RECV_F), pass);
        if (stage.hasEmbedding() || stage.hasHead()) {
            data.read(pass, microbatch);
        }
        if (stage.hasHead()) {
            stage.scaleLoss(pass.lossScale());
        }
        clock.begins(stage.index(), Work.FORWARD);
        Tensor output = switch (pass.kind()) {
            case TRAINING -> {
                stage.enterStep(pass.step(), plan.microbatchInStep(rank.rank(), 0));
                yield stage.forward(microbatch, input, data.tokens(), data.targets());
            }
            case VALIDATION -> stage.forwardOnly(microbatch, input, data.tokens(), data.targets());
        };
        clock.ends();
        if (stage.hasHead()) {
            return new TaskResult(losses(pass, microbatch), List.of());
        }
        handOver(action.as(Kind.SEND_F), output);
        return TaskResult.NOTHING;
    }

    /** Told by one rank of a group, and of validation data, which every pipeline sees whole, by those of one pipeline. */
    private List<MicrobatchLoss> losses(Pass pass, int microbatch) {
        double loss = stage.loss(microbatch);
        return switch (pass.kind()) {
            case TRAINING -> at.tensor() == 0
                    ? List.of(new MicrobatchLoss(plan.microbatchInStep(rank.rank(), microbatch), loss))
                    : List.of();
            case VALIDATION -> isFirstOfItsKind() ? List.of(new MicrobatchLoss(microbatch, loss)) : List.of();
        };
    }

    /** Whether no rank before this one holds the same stages, or a share of them. */
    private boolean isFirstOfItsKind() {
        return at.tensor() == 0 && at.data() == 0;
    }

    /** A backward that takes a microbatch's gradient of the output and gives that of the input. */
    private interface Backward {
        Tensor of(int microbatch, Tensor outputGradient);
    }

    private void backward(Action action, Pass pass, Work work, Backward backward) {
        Tensor outputGradient = stage.hasHead() ? null : receive(action.as(Kind.RECV_B), pass);
        clock.begins(stage.index(), work);
        Tensor inputGradient = backward.of(action.microbatch(), outputGradient);
        clock.ends();
        if (!stage.hasEmbedding()) {
            handOver(action.as(Kind.SEND_B), inputGradient);
        }
    }

    private void backwardWeight(int microbatch) {
        clock.begins(stage.index(), Work.BACKWARD_WEIGHT);
        stage.backwardWeight(microbatch);
        clock.ends();
    }

    /** The tensor of a receive. Its credit goes back to the sender at once, with a fresh buffer. */
    private Tensor receive(Action receive, Pass pass) {
        points.at(FaultPoint.RECEIVE, pass, receive);
        Tensor tensor = rank.tensors().take(receive);
        if (plan.needsMessage(receive)) {
            grant(plan.edgeOf(rank.rank(), receive));
            return tensor;
        }
        Tensor own = stage.takeBoundary();
        engine.copy(tensor, own);
        rank.worker(receive.peerStage()).release(tensor);
        return own;
    }

    private void handOver(Action send, Tensor tensor) {
        rank.tensors().put(plan.needsMessage(send) ? send : send.peer(), tensor);
    }

    /** A copy goes, since the gradient itself becomes the sum, and a message may have to be sent again. */
    private TaskResult exchangeTiedGradient() {
        int other = plan.otherTiedStage(stage.index());
        rank.outbox().grant(plan.tiedEdge(rank.rank(), other, stage.index()), stage.takeTiedGradient());
        Tensor copy = stage.takeTiedGradient();
        engine.copy(stage.tiedGradient(), copy);
        rank.outbox().send(new MessageKey(plan.tiedEdge(rank.rank(), stage.index(), other), 0), copy);
        return TaskResult.NOTHING;
    }

    void keepTiedGradient(Tensor tensor) {
        otherTiedGradient.set(tensor);
    }

    private TaskResult addTiedGradient() {
        Tensor other = otherTiedGradient.getAndSet(null);
        stage.addTiedGradient(other);
        stage.release(other);
        return TaskResult.NOTHING;
    }

    private TaskResult measureGradients(Pass pass) {
        if (stage.tiedEnd() == TiedEnd.BOTH) {
            stage.reduceTied();
        }
        stage.reduceReplicatedGradients();
        stage.addUpGradients();
        node.gradientDump().filter(dump -> dump.wants(pass.step()))
                .ifPresent(dump -> dump.add(rank.rank(), stage.index(), files(stage.gradients())));
        List<LayerSquaredSum> sums = stage.squaredSums(); // every rank of the group takes part
        return new TaskResult(List.of(), isFirstOfItsKind() ? sums : List.of());
    }

    private TaskResult update(WeightUpdate update) {
        clock.begins(stage.index(), Work.UPDATE);
        if (update.skipped()) {
            stage.zeroGradients();
        } else {
            stage.optimizerStep(update.learningRate(), update.gradientScale(), update.updateNumber());
        }
        clock.ends();
        if (node.snapshots().isPresent() && !rank.outbox().isRetired()
                && points.keepsSnapshot(stage.index(), update.step())) {
            node.snapshots().get().keep(rank.rank(), stage.index(), update.step() + 1, engine, stage.state());
            node.copies().kept(rank.rank(), stage.index(), update.step() + 1);
        }
        return TaskResult.NOTHING;
    }

    void release(Tensor boundary) {
        stage.release(boundary);
    }

    /** Weights and optimizer state as files have them, without what another rank writes too. */
    List<TensorPart> state() {
        return files(stage.state());
    }

    private List<TensorPart> files(List<StateTensor> tensors) {
        return tensors.stream().filter(named -> !named.copy())
                .map(named -> new TensorPart(
                        new NamedTensor(named.name(), named.tensor().shape(), named.tensor().dataType(),
                                target -> engine.copyToHost(named.tensor(), 0, target)),
                        named.slice()))
                .toList();
    }

    @Override
    public void close() {
        stage.close();
    }
}
