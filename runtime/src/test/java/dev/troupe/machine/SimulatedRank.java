package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.model.LayerSquaredSum;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One incarnation of a rank around its {@link RankMachine}: what its actors, its thread and its tensors are to a real
 * one. What it hears comes by three ways that overtake each other: from its thread, from the transport, from the
 * coordinator.
 */
final class SimulatedRank {
    /** Something the thread does; a task is one or more, and one that has begun is not broken off from outside. */
    private record Part(boolean begins, Runnable work) {
    }

    private final Simulation run;
    private final TrainingPlan plan;
    private final SimulatedNode node;
    private final Incarnation incarnation;
    private final SimulatedOutbox outbox;
    private final long startsAfter;
    private final RankMachine machine;
    private final Map<Integer, SimulatedStage> stages = new TreeMap<>();
    private final Map<Action, Long> tensors = new HashMap<>();
    private final Map<Integer, Long> otherTied = new HashMap<>();
    // What it has computed with in this pass.
    private final Set<Action> used = new HashSet<>();

    private final Deque<Part> thread = new ArrayDeque<>();
    private final Deque<Runnable> fromThread = new ArrayDeque<>();
    private final Deque<Runnable> fromTransport = new ArrayDeque<>();
    private final Deque<Runnable> fromCoordinator = new ArrayDeque<>();
    private final Deque<Runnable> toCoordinator = new ArrayDeque<>();
    private final List<Move> moves;

    private final Set<Integer> loading;
    private final List<MicrobatchLoss> losses = new ArrayList<>();
    private final List<LayerSquaredSum> squaredSums = new ArrayList<>();
    private Pass pass;
    private WeightUpdate update;
    private int epoch;
    private long toldMessages;
    private boolean isBorn;
    private boolean hasFailed;
    private boolean hasStopped;

    /** What is about to begin where {@code node} starts it; its actors come to life when they do. */
    SimulatedRank(Simulation run, TrainingPlan plan, SimulatedNode node, Incarnation incarnation, long startsAfter) {
        this.run = run;
        this.plan = plan;
        this.node = node;
        this.incarnation = incarnation;
        this.startsAfter = startsAfter;
        this.epoch = incarnation.epoch();
        this.outbox = new SimulatedOutbox(run, node, incarnation);
        List<Integer> held = plan.stagesOf(rank());
        this.machine = new RankMachine(rank(), plan.row(Pass.Kind.TRAINING, rank()),
                plan.row(Pass.Kind.VALIDATION, rank()), held,
                held.stream().filter(plan::exchangesTiedGradient).toList());
        this.loading = new TreeSet<>(held);
        this.moves = List.of(new Move(name() + " works", () -> thread.remove().work().run()),
                new Move(name() + " hears its thread", () -> fromThread.remove().run()),
                new Move(name() + " hears the transport", () -> fromTransport.remove().run()),
                new Move(name() + " hears the coordinator", () -> fromCoordinator.remove().run()),
                new Move("the coordinator hears " + name(), () -> toCoordinator.remove().run()),
                new Move(name() + " comes to life", this::comeToLife), new Move(name() + " stops", this::stop));
    }

    private String name() {
        return "rank " + rank() + " of epoch " + incarnation.epoch();
    }

    int rank() {
        return incarnation.rank();
    }

    Incarnation incarnation() {
        return incarnation;
    }

    boolean isBorn() {
        return isBorn;
    }

    boolean hasFailed() {
        return hasFailed;
    }

    /** What may happen to it next. */
    void addMoves(List<Move> all) {
        addWhere(!thread.isEmpty(), 0, all);
        addWhere(!fromThread.isEmpty(), 1, all);
        addWhere(!fromTransport.isEmpty(), 2, all);
        addWhere(!fromCoordinator.isEmpty(), 3, all);
        addWhere(!toCoordinator.isEmpty(), 4, all);
        addWhere(!isBorn && !outbox.isRetired(), 5, all);
        addWhere(outbox.isRetired() && !hasStopped, 6, all);
    }

    private void addWhere(boolean may, int move, List<Move> all) {
        if (may) {
            all.add(moves.get(move));
        }
    }

    /** Whether nothing comes of it any more. */
    boolean isOver() {
        return hasStopped && thread.isEmpty() && toCoordinator.isEmpty();
    }

    private void comeToLife() {
        isBorn = true;
        toCoordinator.add(() -> run.hosted(this));
        node.register(this);
        for (int stage : plan.stagesOf(rank())) {
            order(new Part(true, () -> open(stage)));
        }
    }

    private void open(int index) {
        SimulatedStage stage = Truth.newStage(plan, index);
        if (startsAfter > run.firstStep()) {
            stage.load(node.snapshots().find(index, startsAfter).orElseThrow(() -> new IllegalStateException(
                    "there is no snapshot of stage " + index + " after " + startsAfter + " steps")));
        }
        assertEquals(run.truth().weights(index, startsAfter), stage.weights(), "what " + name() + " starts from");
        stages.put(index, stage);
        for (Kind receive : List.of(Kind.RECV_F, Kind.RECV_B)) {
            Action any = new Action(index, receive, 0);
            for (int credit = 0; plan.needsMessage(any) && credit < plan.creditsPerEdge(); credit++) {
                outbox.grant(plan.edgeOf(rank(), any));
            }
        }
        fromThread.add(() -> stageReady(index));
    }

    private void stageReady(int stage) {
        loading.remove(stage);
        if (loading.isEmpty()) {
            take(new RankEvent.EpochEntered(epoch));
        }
    }

    // What the transport says, on its thread.

    void landed(Carrier.Message message, int transportEpoch) {
        Edge edge = message.edge();
        assertEquals(transportEpoch, message.epoch(), () -> "the epoch of what landed on " + edge);
        run.contents().lands(incarnation, message);
        if (edge.kind() == MessageKind.TIED_GRADIENT) {
            if (outbox.isOfThisPass(message.pass())) {
                otherTied.put(edge.stage(), message.content());
                hear(() -> take(new RankEvent.TiedGradientLanded(edge.stage())));
            } else {
                outbox.grant(edge);
            }
            return;
        }
        Action receive = new Action(edge.stage(), edge.kind() == MessageKind.ACTIVATION ? Kind.RECV_F : Kind.RECV_B,
                message.microbatch());
        if (tensors.putIfAbsent(receive, message.content()) == null) {
            hear(() -> take(new RankEvent.Landed(receive, message.pass())));
        } else {
            outbox.grant(edge);
        }
    }

    void epochBegun(int begun) {
        if (outbox.enter(begun)) {
            hear(() -> {
                epoch = begun;
                if (loading.isEmpty()) {
                    take(new RankEvent.EpochEntered(begun));
                }
            });
        }
    }

    void returned(Edge edge) {
        outbox.grant(edge);
    }

    void messageLost(String sentence) {
        hear(() -> tellCoordinator(new CoordinatorEvent.MessageLost(epoch, sentence)));
    }

    private void hear(Runnable news) {
        if (!hasFailed && !hasStopped) {
            fromTransport.add(news);
        }
    }

    // What the coordinator says.

    void tell(Runnable news) {
        if (!hasFailed && !hasStopped) {
            fromCoordinator.add(news);
        }
    }

    void startPass(Pass started) {
        pass = started;
        used.clear();
        outbox.begin(started.number());
        take(new RankEvent.PassStarted(started));
    }

    void applyUpdate(WeightUpdate asked) {
        update = asked;
        take(new RankEvent.UpdateRequested());
    }

    void resume(CoordinatorCommand.Resume resume) {
        outbox.resume(resume);
    }

    void writeCheckpoint(long stepsDone) {
        order(new Part(true, () -> {
            String checksum = stages.values().stream().map(SimulatedStage::weights).toList().toString();
            fromThread.add(() -> tellCoordinator(new CoordinatorEvent.CheckpointPartWritten(incarnation,
                    new CheckpointPart("rank-" + rank(), stepsDone, checksum))));
        }));
    }

    private void tellCoordinator(CoordinatorEvent event) {
        toCoordinator.add(() -> run.ask(event));
    }

    private void take(RankEvent event) {
        machine.on(event).forEach(this::carryOut);
    }

    private void carryOut(RankCommand command) {
        switch (command) {
            case RankCommand.Run(StageTask task, var sends) -> order(task, sends);
            case RankCommand.Send(Action send) -> send(send);
            case RankCommand.Discard(Action receive) -> discard(receive);
            case RankCommand.ReportEpochReady(int stood, long number, var received, var tied) ->
                tellCoordinator(new CoordinatorEvent.EpochReady(incarnation, stood, number, keys(received, tied)));
            case RankCommand.ReportPassDone(Pass done) -> {
                tellCoordinator(new CoordinatorEvent.PassDone(incarnation, done, losses, squaredSums));
                losses.clear();
                squaredSums.clear();
            }
            case RankCommand.ReportUpdated(long step) -> {
                long messages = outbox.messagesSent() - toldMessages;
                toldMessages += messages;
                tellCoordinator(new CoordinatorEvent.Updated(incarnation, step, new Traffic(messages, 0, 0)));
            }
        }
    }

    private void discard(Action receive) {
        long content = takeTensor(receive);
        if (run.protocol().acceptsDuplicates() && used.contains(receive)) {
            stages.get(receive.stage()).addAgain(content);
        }
        outbox.grant(plan.edgeOf(rank(), receive));
    }

    private List<MessageKey> keys(List<Action> received, List<Integer> tied) {
        List<MessageKey> keys = new ArrayList<>();
        received.forEach(receive -> keys.add(new MessageKey(plan.edgeOf(rank(), receive), receive.microbatch())));
        tied.forEach(stage -> keys.add(new MessageKey(plan.tiedEdge(rank(), plan.otherTiedStage(stage), stage), 0)));
        return keys;
    }

    /** A thread that is abandoned takes nothing more. */
    private void order(Part part) {
        if (!outbox.isRetired()) {
            thread.add(part);
        }
    }

    private void order(StageTask task, List<Action> sends) {
        Pass of = pass;
        WeightUpdate asked = update;
        SimulatedStage stage = stages.get(task.stage());
        if (task instanceof StageTask.Update) {
            order(new Part(true, () -> {
                stage.update(asked);
                if (!outbox.isRetired()) {
                    KeptStates.Write write = node.snapshots().begin(task.stage(), asked.step() + 1);
                    thread.addFirst(new Part(false, () -> {
                        node.snapshots().end(write, stage.weights());
                        node.copies().kept(task.stage(), asked.step() + 1);
                    }));
                }
            }));
        } else {
            order(new Part(true, () -> work(task, of)));
        }
        sends.forEach(send -> order(new Part(false, () -> send(send))));
        order(new Part(false, () -> fromThread.add(() -> ended(task, of))));
    }

    private void ended(StageTask task, Pass of) {
        if (task instanceof StageTask.MeasureGradients(int stage)) {
            squaredSums.addAll(stages.get(stage).squaredSums(of));
        }
        take(new RankEvent.TaskDone(task));
    }

    private void work(StageTask task, Pass of) {
        switch (task) {
            case StageTask.Compute(Action action) -> compute(action, of);
            case StageTask.ExchangeTiedGradient(int stage) -> {
                int other = plan.otherTiedStage(stage);
                outbox.grant(plan.tiedEdge(rank(), other, stage));
                outbox.send(new MessageKey(plan.tiedEdge(rank(), stage, other), 0), stages.get(stage).tiedGradient());
            }
            case StageTask.AddTiedGradient(int stage) -> stages.get(stage).addTied(otherTied.remove(stage));
            case StageTask.MeasureGradients(int stage) ->
                assertEquals(0, stages.get(stage).liveActivations(), () -> "live activations at the end of " + of);
            case StageTask.Update _ -> throw new IllegalStateException("an update has parts");
        }
    }

    private void compute(Action action, Pass of) {
        SimulatedStage stage = stages.get(action.stage());
        int microbatch = action.microbatch();
        boolean hasHead = action.stage() == plan.partition().stageCount() - 1;
        switch (action.kind()) {
            case FORWARD -> {
                long input = action.stage() == 0
                        ? SimulatedStage.tokens(of, microbatch)
                        : receive(action.as(Kind.RECV_F));
                long output = stage.forward(of, microbatch, input);
                checkLive(of);
                if (hasHead) {
                    losses.add(new MicrobatchLoss(microbatch, SimulatedStage.loss(output)));
                } else {
                    handOver(action.as(Kind.SEND_F), output);
                }
            }
            case FULL_BACKWARD -> {
                backwardInput(stage, action, of, hasHead);
                stage.backwardWeight(microbatch);
            }
            case BACKWARD_INPUT -> backwardInput(stage, action, of, hasHead);
            case BACKWARD_WEIGHT -> stage.backwardWeight(microbatch);
            case SEND_F, RECV_F, SEND_B, RECV_B -> throw new IllegalStateException(action + " is not for a stage");
        }
    }

    private void backwardInput(SimulatedStage stage, Action action, Pass of, boolean hasHead) {
        long outputGradient = hasHead
                ? SimulatedStage.lossGradient(of, stage.outputOf(action.microbatch()))
                : receive(action.as(Kind.RECV_B));
        long inputGradient = stage.backwardInput(action.microbatch(), outputGradient);
        if (action.stage() > 0) {
            handOver(action.as(Kind.SEND_B), inputGradient);
        }
    }

    private void checkLive(Pass of) {
        int live = stages.values().stream().mapToInt(SimulatedStage::liveActivations).sum();
        int certified = plan.row(of.kind(), rank()).peakActivations();
        assertTrue(of.kind() == Pass.Kind.VALIDATION || live <= certified,
                () -> name() + " holds " + live + " live activations, but is certified for " + certified);
    }

    private long receive(Action receive) {
        long content = takeTensor(receive);
        used.add(receive);
        if (plan.needsMessage(receive)) {
            outbox.grant(plan.edgeOf(rank(), receive));
        }
        return content;
    }

    private void handOver(Action send, long content) {
        Action key = plan.needsMessage(send) ? send : send.peer();
        assertTrue(tensors.put(key, content) == null, () -> "the tensor of " + key + " stands here already");
    }

    private long takeTensor(Action key) {
        Long content = tensors.remove(key);
        assertTrue(content != null, () -> "the tensor of " + key + " is not here");
        return content;
    }

    private void send(Action send) {
        outbox.send(new MessageKey(plan.edgeOf(rank(), send), send.microbatch()), takeTensor(send));
    }

    /** How many buffers of an edge it holds itself: they landed, and it has not computed with them yet. */
    long landed(Edge edge) {
        return tensors.keySet().stream().filter(key -> key.kind().isMessage() && !key.kind().isSend()
                && plan.needsMessage(key) && plan.edgeOf(rank(), key).equals(edge)).count();
    }

    long weights(int stage) {
        return stages.get(stage).weights();
    }

    // Its end.

    /** It fails: its thread and what was told to it are gone, and what it said already is still on its way. */
    void fail() {
        hasFailed = true;
        thread.clear();
        clearMail();
    }

    /** Its node gives it up: it may go on for a while, and nothing must come of it. What has begun of a write ends. */
    void retire() {
        outbox.retire();
        Part next = thread.peekFirst();
        while (next != null && !next.begins()) {
            thread.remove().work().run();
            next = thread.peekFirst();
        }
        thread.clear();
    }

    private void stop() {
        hasStopped = true;
        thread.clear();
        clearMail();
    }

    private void clearMail() {
        fromThread.clear();
        fromTransport.clear();
        fromCoordinator.clear();
    }

    String situation() {
        return name() + (hasFailed ? " (failed)" : isBorn ? "" : " (unborn)") + " is "
                + (loading.isEmpty() ? machine.situation() : "loading " + loading) + "; " + outbox;
    }
}
