package dev.troupe.plan.step;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.model.spec.Balance;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.ExpertMeasures;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.Rows;
import dev.troupe.protocol.rank.StepOps;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.stage.Stage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The actions of one stage on an engine: straight-line code between the rank's tensors and the stage. On an engine that
 * computes they train; on one that counts bytes they make the memory plan. Thread rule: the rank's thread.
 */
public final class StageOps implements StepOps {
    private final Stage stage;
    private final Engine engine;
    private final WorkClock clock;
    private final TrainingPlan plan;
    private final Rows steps;
    private final RankSide rank;
    private final StepWatch watch;
    private final Coordinates at;
    private final int replicas;
    private final boolean isReplicated;
    private final Set<Action> lastBackwards;
    private final Map<Action, Integer> updatesBehind;
    /** The stage's last forward of a pass over validation data; empty if other replicas do all. */
    private final Optional<Action> lastOfValidation;
    /** The stage's forwards in each step of the pass with losses that are not reported yet. */
    private final Map<Integer, Set<Action>> unreported = new HashMap<>();

    public StageOps(Stage stage, Engine engine, WorkClock clock, TrainingPlan plan, RankSide rank, StepWatch watch) {
        this.stage = stage;
        this.engine = engine;
        this.clock = clock;
        this.plan = plan;
        this.steps = plan.rows();
        this.rank = rank;
        this.watch = watch;
        this.at = plan.ranks().coordinates(rank.rank());
        this.replicas = plan.training().plan().replicas(stage.index());
        this.isReplicated = replicas > 1;
        this.lastBackwards = IntStream.range(0, plan.stepsPerPass())
                .mapToObj(step -> plan.lastBackward(rank.rank(), stage.index(), step))
                .collect(Collectors.toUnmodifiableSet());
        this.updatesBehind = plan.updatesBehind(rank.rank(), stage.index());
        this.lastOfValidation = plan.row(Pass.Kind.VALIDATION, rank.rank()).actions().stream()
                .filter(action -> action.kind() == Kind.FORWARD && action.stage() == stage.index())
                .reduce((before, after) -> after);
    }

    /** Gives the transport a buffer for each credit that the plan declares, on each edge into this stage. */
    public void grantFirstCredits() {
        for (Action any : plan.receivesOf(rank.rank(), stage.index())) {
            for (int credit = 0; credit < plan.creditsPerEdge(); credit++) {
                rank.grant(any, stage.boundary().take());
            }
        }
    }

    /** Switches the stage to the weight version, gradients and step of an action. */
    private void use(Action action, Pass.Kind kind) {
        if (steps.overlap()) {
            stage.use(updatesBehind.getOrDefault(action, 0), steps.gradientSum(kind, action));
            watch.enters(steps.stepInRow(kind, action));
        }
    }

    @Override
    public ActionResult compute(Action action, Pass pass) {
        use(action, pass.kind());
        if (lastBackwards.contains(action)) {
            stage.lastBackwardFollows();
        }
        return switch (action.kind()) {
            case FORWARD -> forward(action, pass);
            case FULL_BACKWARD -> backward(action, pass, Work.BACKWARD, stage::backward);
            case BACKWARD_INPUT -> backward(action, pass, Work.BACKWARD_INPUT, stage::backwardInput);
            case RECOMPUTE -> recompute(action, pass);
            default -> backwardWeight(action, pass);
        };
    }

    private ActionResult forward(Action action, Pass pass) {
        int microbatch = action.microbatch();
        Pass step = steps.passOf(action, pass);
        int inStep = steps.microbatchInStep(pass.kind(), action);
        Tensor input = stage.hasEmbedding() ? null : receive(action.as(Kind.RECV_F), pass);
        MicrobatchRows rows = readsRows() ? rank.read(stage.index(), step, inStep) : null;
        if (stage.hasHead()) {
            stage.scaleLoss(pass.lossScale());
        } else {
            watch.makes(action.as(Kind.SEND_F));
        }
        begins(Work.FORWARD, action, pass);
        Tensor output = switch (pass.kind()) {
            case TRAINING -> {
                stage.enterStep(step.step(), plan.globalMicrobatch(rank.rank(), inStep) - microbatch);
                yield stage.forward(microbatch, input, rows);
            }
            case VALIDATION -> stage.forwardOnly(microbatch, input, rows);
        };
        clock.ends();
        if (stage.hasHead()) {
            unreported.computeIfAbsent(steps.stepInRow(pass.kind(), action), _ -> new LinkedHashSet<>()).add(action);
            boolean endsPass = pass.kind() == Pass.Kind.VALIDATION
                    && lastOfValidation.filter(action::equals).isPresent();
            return endsPass ? new ActionResult(losses(action, pass), List.of()) : ActionResult.NOTHING;
        }
        handOver(action.as(Kind.SEND_F), pass, output);
        return ActionResult.NOTHING;
    }

    private boolean readsRows() {
        return stage.hasEmbedding() || stage.hasHead() || plan.stageSettings().separatesDocuments();
    }

    /**
     * Returns the losses of the step of an action. It waits for the engine, so it is called after all forwards have been
     * requested. In a tensor-parallel group one rank reports them. Every pipeline sees all validation data, so there one
     * rank of one pipeline reports.
     */
    private List<MicrobatchLoss> losses(Action action, Pass pass) {
        List<MicrobatchLoss> losses = new ArrayList<>();
        // In the order of microbatches, whatever the schedule.
        SortedMap<Integer, Balance.Measure> measures = new TreeMap<>();
        for (Action forward : unreported.remove(steps.stepInRow(pass.kind(), action))) {
            double loss = stage.loss(forward.microbatch());
            int inStep = steps.microbatchInStep(pass.kind(), forward);
            switch (pass.kind()) {
                case TRAINING -> {
                    watch.measuredLoss(stage, forward.microbatch(), loss);
                    if (at.tensor() == 0) {
                        losses.add(new MicrobatchLoss(plan.globalMicrobatch(rank.rank(), inStep), loss));
                        measures.put(inStep, stage.experts(forward.microbatch()));
                    }
                }
                case VALIDATION -> {
                    if (isFirstOfItsKind() || isReplicated) { // each replica has its own microbatches
                        losses.add(new MicrobatchLoss(inStep, loss));
                    }
                }
            }
        }
        return with(measures, losses);
    }

    /** Gives the measures of the experts in all microbatches to the last loss. */
    private static List<MicrobatchLoss> with(SortedMap<Integer, Balance.Measure> measures,
            List<MicrobatchLoss> losses) {
        if (measures.isEmpty() || measures.get(measures.firstKey()) == null) {
            return losses;
        }
        MicrobatchLoss last = losses.removeLast();
        losses.add(new MicrobatchLoss(last.microbatch(), last.loss(),
                ExpertMeasures.of(measures.values().stream().map(of -> new ExpertMeasures(of.auxiliaryLoss(),
                        of.routerZLoss(), of.entropy(), of.highestLoad(), of.idle(), of.dropped())).toList())));
        return losses;
    }

    /** Whether this is the first of the ranks that hold the same stages, or shares of them. */
    private boolean isFirstOfItsKind() {
        return at.tensor() == 0 && at.data() == 0;
    }

    private interface Backward {
        Tensor of(int microbatch, Tensor outputGradient);
    }

    private ActionResult backward(Action action, Pass pass, Work work, Backward backward) {
        Tensor outputGradient = stage.hasHead() ? null : receive(action.as(Kind.RECV_B), pass);
        if (!stage.hasEmbedding()) {
            watch.makes(action.as(Kind.SEND_B));
        }
        begins(work, action, pass);
        Tensor inputGradient = backward.of(action.microbatch(), outputGradient);
        clock.ends();
        if (!stage.hasEmbedding()) {
            handOver(action.as(Kind.SEND_B), pass, inputGradient);
        }
        // A replica's norm comes in a later step than some of its losses.
        return stage.hasHead() && isReplicated
                ? new ActionResult(losses(action, pass), List.of())
                : ActionResult.NOTHING;
    }

    private ActionResult backwardWeight(Action action, Pass pass) {
        begins(Work.BACKWARD_WEIGHT, action, pass);
        stage.backwardWeight(action.microbatch());
        clock.ends();
        return ActionResult.NOTHING;
    }

    private ActionResult recompute(Action action, Pass pass) {
        begins(Work.RECOMPUTE, action, pass);
        stage.recompute(action.microbatch());
        clock.ends();
        return ActionResult.NOTHING;
    }

    /** Validation leaves nothing out. */
    private void begins(Work work, Action action, Pass pass) {
        switch (pass.kind()) {
            case TRAINING -> clock.begins(stage.index(), work, steps.passOf(action, pass).step(),
                    plan.globalMicrobatch(rank.rank(), steps.microbatchInStep(pass.kind(), action)));
            case VALIDATION -> clock.begins(stage.index(), work);
        }
    }

    /**
     * Returns the tensor of a receive; a tensor of this rank is adopted. For a message a fresh buffer is granted at once,
     * which returns the credit to the sender. It has room for the longest message, since the next message is not known yet.
     */
    private Tensor receive(Action receive, Pass pass) {
        int length = lengthOf(receive, pass);
        Tensor taken = rank.take(receive, pass, stage.boundary().rowsOf(length));
        if (!plan.needsMessage(receive)) {
            rank.adopt(stage, plan.peerStage(receive), taken);
            return taken;
        }
        Tensor tensor = stage.boundary().ofLength(taken, length);
        rank.grant(receive, stage.boundary().take());
        watch.received(stage, receive, pass, tensor);
        return tensor;
    }

    private int lengthOf(Action action, Pass pass) {
        return rank.lengthOf(steps.passOf(action, pass), steps.microbatchInStep(pass.kind(), action));
    }

    public int rowsOf(Action receive, Pass pass) {
        return receive.kind().isTransfer()
                ? stage.boundary().rowsOf(lengthOf(receive, pass))
                : stage.tied().gradient().shape().size(0);
    }

    private void handOver(Action send, Pass pass, Tensor tensor) {
        rank.put(plan.needsMessage(send) ? send : plan.peer(send), pass, tensor);
    }

    @Override
    public void send(Action send, Pass pass) {
        rank.send(send, pass);
    }

    @Override
    public void unshard(Action action) {
        use(action, Pass.Kind.TRAINING);
        stage.unshard();
        reportUpdated(action);
    }

    /** Reports the updated weights if steps overlap; otherwise {@link #snapshot} reports them. */
    private void reportUpdated(Action action) {
        if (steps.overlap() && action.kind() == plan.endOfUpdate()) {
            watch.updated(stage);
        }
    }

    @Override
    public void reshard(Action action) {
        stage.reshard();
    }

    @Override
    public void reduceGradients(Action action) {
        use(action, Pass.Kind.TRAINING);
        stage.addUpGradients();
    }

    /** Sends a copy, since the gradient itself becomes the sum, and a message may have to be resent. */
    @Override
    public void sendShared(Action send, Pass pass) {
        use(send, pass.kind());
        if (plan.needsMessage(send)) {
            rank.grant(send.as(Kind.RECV_SHARED), stage.tied().takeGradient());
        }
        stage.tied().addUp();
        Tensor copy = stage.tied().takeGradient();
        engine.copy(stage.tied().gradient(), copy);
        handOver(send, pass, copy);
        if (plan.needsMessage(send)) {
            rank.send(send, pass);
        }
    }

    @Override
    public void addShared(Action receive, Pass pass) {
        use(receive, pass.kind());
        stage.tied().addUp();
        if (plan.peerStage(receive) == stage.index()) {
            stage.tied().reduce();
            return;
        }
        Tensor other = rank.take(receive, pass, rowsOf(receive, pass));
        stage.tied().add(other);
        if (plan.needsMessage(receive)) {
            stage.boundary().release(other);
        } else {
            rank.release(plan.peerStage(receive), other);
        }
    }

    @Override
    public ActionResult norm(Action action, Pass pass) {
        use(action, pass.kind());
        watch.finalGradients(stage, steps.passOf(action, pass));
        List<LayerSquaredSum> sums = new ArrayList<>();
        // Every rank of the group takes part.
        int replica = plan.trainsReplicas() ? at.data() : 0;
        stage.squaredSums((block, part, sum) -> sums.add(new LayerSquaredSum(block, part, sum, replica)));
        return new ActionResult(
                stage.hasHead() && !isReplicated ? losses(action, pass) : List.of(),
                at.tensor() == 0 && at.data() == replica ? sums : List.of());
    }

    @Override
    public void update(Action action, WeightUpdate update) {
        use(action, Pass.Kind.TRAINING);
        clock.begins(stage.index(), Work.UPDATE);
        if (update.skipped()) {
            stage.skipStep();
        } else {
            // The mean of the gradients of a round, at a rate in proportion to its microbatches.
            stage.optimizerStep(update.learningRate() * replicas, update.gradientScale(at.data()) / replicas,
                    Math.ceilDiv(update.updateNumber(), replicas)); // exact but in a trial of one update
        }
        clock.ends();
        reportUpdated(action);
    }

    @Override
    public void snapshot(Action action, Pass pass) {
        watch.ended(stage, steps.passOf(action, pass));
    }
}
