package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.node.RankGroup;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.StepOps;
import dev.troupe.protocol.run.SimulatedRank.Part;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/** The actions of a rank in a simulation: hashes of its stages, and its tensors between them. */
final class HashOps implements StepOps {
    /** A message of a pass. */
    private record Key(long pass, Action message) {
    }

    private final SimulatedPlan plan;
    private final int rank;
    private final Map<Integer, SimulatedStage> stages;
    private final Outbox<Long> outbox;
    private final SimulatedNode node;
    private final Consumer<Part> first;
    private final SimulatedGroups.Member tensorGroup;
    private final SimulatedGroups.Member dataGroup;
    private final Map<Key, Long> tensors = new HashMap<>();
    private final Map<Action, Integer> updatesBehind = new HashMap<>();
    // By step of the pass.
    private final Map<Integer, Double> lossScales = new HashMap<>();
    // The receives used in this pass.
    private final Set<Action> used = new HashSet<>();
    // Of the last action, if it ended after a collective.
    private ActionResult late = ActionResult.NOTHING;

    /**
     * @param stages filled as they are opened
     * @param first takes the first work of the thread
     */
    HashOps(SimulatedPlan plan, int rank, RankGroup start, Map<Integer, SimulatedStage> stages, Outbox<Long> outbox,
            SimulatedNode node, SimulatedGroups groups, Consumer<Part> first) {
        this.plan = plan;
        this.rank = rank;
        this.stages = stages;
        this.outbox = outbox;
        this.node = node;
        this.first = first;
        plan.stagesOf(rank).forEach(stage -> updatesBehind.putAll(plan.updatesBehind(rank, stage)));
        this.tensorGroup = groups.join(plan.tensorGroup(rank), rank, start);
        this.dataGroup = groups.join(plan.dataGroup(rank), rank, start);
    }

    void beginPass() {
        used.clear();
        lossScales.clear();
    }

    /** Returns the stage of an action, switched to the action's weights and gradients. */
    private SimulatedStage stageOf(Action action, Pass of) {
        SimulatedStage stage = stages.get(action.stage());
        stage.use(updatesBehind.getOrDefault(action, 0), plan.rows().gradientSum(of.kind(), action));
        return stage;
    }

    /** Returns the pass of an action's step alone. */
    private Pass stepOf(Action action, Pass of) {
        int step = plan.rows().stepInRow(of.kind(), action);
        return new Pass(of.step() + step, of.kind(), lossScales.getOrDefault(step, of.lossScale()));
    }

    /** Takes a landed tensor; false if it is here already. */
    boolean land(Action receive, long pass, long content) {
        return tensors.putIfAbsent(new Key(pass, receive), content) == null;
    }

    boolean hasUsed(Action receive) {
        return used.contains(receive);
    }

    /** Returns the number of landed and unused tensors of an edge. */
    long landed(Edge edge) {
        return tensors.keySet().stream().map(Key::message).filter(key -> key.kind().isReceive()
                && plan.needsMessage(key) && plan.edgeOf(rank, key).equals(edge)).count();
    }

    /** Returns the measurements of the last action. */
    ActionResult takeResult() {
        ActionResult result = late;
        late = ActionResult.NOTHING;
        return result;
    }

    /** Adds up the contributions of all members of a group; the action continues with the sum when all have come. */
    private ActionResult meet(SimulatedGroups.Member group, Supplier<String> what, long value,
            LongFunction<ActionResult> then) {
        if (group.isAlone()) {
            late = then.apply(value);
        } else {
            group.bring(what.get(), value);
            first.accept(new Part(false, group::isWhole, () -> late = then.apply(group.sum())));
        }
        return ActionResult.NOTHING;
    }

    @Override
    public ActionResult compute(Action action, Pass of) {
        SimulatedStage stage = stageOf(action, of);
        boolean hasHead = action.stage() == plan.stageCount() - 1;
        if (action.kind() == Kind.FORWARD) {
            lossScales.put(plan.rows().stepInRow(of.kind(), action), of.lossScale());
        }
        return switch (action.kind()) {
            case FORWARD -> forward(stage, action, of, hasHead);
            case FULL_BACKWARD -> backwardInput(stage, action, of, hasHead,
                    () -> stage.backwardWeight(action.microbatch()));
            case BACKWARD_INPUT -> backwardInput(stage, action, of, hasHead, () -> {
            });
            case RECOMPUTE -> replay(stage, action, of);
            default -> {
                stage.backwardWeight(action.microbatch());
                yield ActionResult.NOTHING;
            }
        };
    }

    private ActionResult forward(SimulatedStage stage, Action action, Pass of, boolean hasHead) {
        int microbatch = action.microbatch();
        boolean isTraining = of.kind() == Pass.Kind.TRAINING;
        int number = plan.rows().microbatchInStep(of.kind(), action);
        int inStep = isTraining ? plan.globalMicrobatch(plan.dataOf(rank), number) : number;
        long input = action.stage() == 0
                ? SimulatedStage.tokens(stepOf(action, of), inStep)
                : receive(action.as(Kind.RECV_F), of);
        long part = stage.forward(of, microbatch, number, input);
        checkLive(of);
        return meet(tensorGroup, () -> action + " of " + of, part, output -> {
            if (isTraining) {
                stage.keepOutput(microbatch, output);
            }
            if (!hasHead) {
                handOver(action.as(Kind.SEND_F), of, output);
                return ActionResult.NOTHING;
            }
            boolean isTold = plan.tensorOf(rank) == 0 && (isTraining || plan.isReplicated() || plan.dataOf(rank) == 0);
            return isTold
                    ? new ActionResult(List.of(new MicrobatchLoss(inStep, SimulatedStage.loss(output))), List.of())
                    : ActionResult.NOTHING;
        });
    }

    /** Replays with the same weights as its forward, and so with the same output. */
    private ActionResult replay(SimulatedStage stage, Action action, Pass of) {
        long part = stage.replay(action.microbatch(), plan.rows().microbatchInStep(of.kind(), action));
        return meet(tensorGroup, () -> action + " of " + of, part, output -> {
            assertEquals(stage.outputOf(action.microbatch()), output, () -> action + " is not its forward");
            assertTrue(used.add(action), () -> action + " is done twice");
            return ActionResult.NOTHING;
        });
    }

    private ActionResult backwardInput(SimulatedStage stage, Action action, Pass of, boolean hasHead, Runnable then) {
        long outputGradient = hasHead
                ? SimulatedStage.lossGradient(stepOf(action, of), stage.outputOf(action.microbatch()))
                : receive(action.as(Kind.RECV_B), of);
        assertTrue(!plan.replaysAhead(action.stage()) || used.contains(action.as(Kind.RECOMPUTE)),
                () -> action + " has no replay");
        long part = stage.backwardInput(action.microbatch(), outputGradient);
        return meet(tensorGroup, () -> action + " of " + of, part, inputGradient -> {
            if (action.stage() > 0) {
                handOver(action.as(Kind.SEND_B), of, inputGradient);
            }
            then.run();
            return ActionResult.NOTHING;
        });
    }

    @Override
    public void unshard(Action action) {
        throw new IllegalStateException(action + ", but no rank holds a share of the weights alone");
    }

    @Override
    public void reshard(Action action) {
        throw new IllegalStateException(action + ", but no rank holds a share of the weights alone");
    }

    @Override
    public void reduceGradients(Action action) {
        SimulatedStage stage = stages.get(action.stage());
        stage.use(0, plan.rows().gradientSum(Pass.Kind.TRAINING, action));
        meet(dataGroup, action::toString, stage.gradient(), sum -> {
            stage.takeGradient(sum);
            return ActionResult.NOTHING;
        });
    }

    @Override
    public void sendShared(Action send, Pass of) {
        if (plan.needsMessage(send)) {
            outbox.grant(plan.edgeOf(rank, send.as(Kind.RECV_SHARED)), SimulatedTransport.BUFFER);
        }
        handOver(send, of, stageOf(send, of).tiedGradient());
        if (plan.needsMessage(send)) {
            send(send, of);
        }
    }

    @Override
    public void addShared(Action receive, Pass of) {
        if (plan.peerStage(receive) != receive.stage()) { // else it has one gradient of both uses
            stageOf(receive, of).addTied(take(receive, of.number()));
            used.add(receive);
        }
    }

    @Override
    public ActionResult norm(Action action, Pass of) {
        SimulatedStage stage = stageOf(action, of);
        assertTrue(stage.liveActivations() == 0 || plan.stepsPerPass() > 1,
                () -> "live activations at the end of " + of);
        Pass step = stepOf(action, of);
        return meet(tensorGroup, () -> action + " of " + of, stage.gradient(),
                ofAll -> plan.tensorOf(rank) == 0 && plan.dataOf(rank) == 0
                        ? new ActionResult(List.of(), stage.squaredSums(step, ofAll))
                        : ActionResult.NOTHING);
    }

    @Override
    public void update(Action action, WeightUpdate asked) {
        SimulatedStage stage = stages.get(action.stage());
        stage.use(0, plan.rows().gradientSum(Pass.Kind.TRAINING, action));
        stage.update(asked);
    }

    /** Ends a write that has begun. */
    @Override
    public void snapshot(Action action, Pass of) {
        if (outbox.isRetired()) {
            return;
        }
        assertEquals(0, stages.get(action.stage()).liveActivations(), () -> "live activations at the end of " + of);
        long weights = stages.get(action.stage()).weights();
        long stepsDone = of.step() + plan.stepsPerPass();
        node.snapshots().keep(rank, action.stage(), stepsDone)
                .ifPresent(write -> first.accept(new Part(false, () -> {
                    write.end(weights);
                    node.copies().kept(rank, action.stage(), stepsDone);
                })));
    }

    private void checkLive(Pass of) {
        int live = stages.values().stream().mapToInt(SimulatedStage::liveActivations).sum();
        int certified = plan.certificate(of.kind()).peakActivations().get(plan.placeOf(rank));
        assertTrue(of.kind() == Pass.Kind.VALIDATION || live <= certified,
                () -> "rank " + rank + " holds " + live + " live activations, but is certified for " + certified);
    }

    private long receive(Action receive, Pass of) {
        long content = take(receive, of.number());
        used.add(receive);
        if (plan.needsMessage(receive)) {
            outbox.grant(plan.edgeOf(rank, receive), SimulatedTransport.BUFFER);
        }
        return content;
    }

    private void handOver(Action send, Pass of, long content) {
        Action key = plan.needsMessage(send) ? send : plan.peer(send);
        assertTrue(tensors.put(new Key(of.number(), key), content) == null,
                () -> "the tensor of " + key + " is here already");
    }

    long take(Action message, long ofPass) {
        Long content = tensors.remove(new Key(ofPass, message));
        assertTrue(content != null, () -> "the tensor of " + message + " is not here");
        return content;
    }

    @Override
    public void send(Action send, Pass of) {
        outbox.send(plan.messages(rank).keyOf(send), take(send, of.number()));
    }
}
