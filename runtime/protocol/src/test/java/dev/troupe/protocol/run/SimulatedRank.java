package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.node.RankGroup;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankCommand;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.protocol.rank.StepsInProgress;
import dev.troupe.schedule.Action;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * One incarnation of a rank around its {@link RankMachine}, with the actors, the thread and the tensors of a real one. Its
 * events come by three ways that overtake each other: from its thread, from the transport, from the coordinator.
 */
final class SimulatedRank {
    /** A part of the thread's work; an action is one or more, and one that has begun is not broken off from outside. */
    record Part(boolean begins, BooleanSupplier isReady, Runnable work) {
        Part(boolean begins, Runnable work) {
            this(begins, () -> true, work);
        }
    }

    private final Simulation run;
    private final SimulatedPlan plan;
    private final SimulatedNode node;
    private final Incarnation incarnation;
    private final SimulatedTransport transport;
    private final Outbox<Long> outbox;
    private final long startsAfter;
    private final RankMachine machine;
    private final Map<Integer, SimulatedStage> stages = new TreeMap<>();
    private final HashOps ops;

    private final Deque<Part> thread = new ArrayDeque<>();
    private final Deque<Runnable> fromThread = new ArrayDeque<>();
    private final Deque<Runnable> fromTransport = new ArrayDeque<>();
    private final Deque<Runnable> fromCoordinator = new ArrayDeque<>();
    private final Deque<Runnable> toCoordinator = new ArrayDeque<>();
    private final List<Move> moves;

    private final Set<Integer> loading;
    private final StepsInProgress steps;
    private Pass pass;
    private int epoch;
    private long toldMessages;
    private boolean isBorn;
    private boolean hasFailed;
    private boolean hasStopped;

    /** Creates the work that {@code node} starts; its actors come to life later. */
    SimulatedRank(Simulation run, SimulatedPlan plan, SimulatedNode node, int rank, RankGroup group,
            long startsAfter) {
        this.run = run;
        this.plan = plan;
        this.node = node;
        this.incarnation = new Incarnation(rank, group.epoch(), run.protocol().startTerm(group.term()));
        this.startsAfter = startsAfter;
        this.epoch = group.epoch();
        this.transport = new SimulatedTransport(node);
        this.outbox = new Outbox<>(rank, transport, run.keepsSnapshots(), epoch);
        this.ops = new HashOps(plan, rank, group, stages, outbox, node, run.groups(), thread::addFirst);
        this.steps = new StepsInProgress(plan);
        this.machine = new RankMachine(rank, group.term(), plan.row(Pass.Kind.TRAINING, rank),
                plan.row(Pass.Kind.VALIDATION, rank));
        this.loading = new TreeSet<>(plan.stagesOf(rank));
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

    SimulatedNode node() {
        return node;
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

    /** Adds its possible next events. */
    void addMoves(List<Move> all) {
        addWhere(!thread.isEmpty() && thread.peekFirst().isReady().getAsBoolean(), 0, all);
        addWhere(!fromThread.isEmpty(), 1, all);
        addWhere(!fromTransport.isEmpty(), 2, all);
        addWhere(!fromCoordinator.isEmpty() && run.cluster().reachesCoordinator(node), 3, all);
        addWhere(!toCoordinator.isEmpty() && run.cluster().reachesCoordinator(node), 4, all);
        addWhere(!isBorn && !outbox.isRetired(), 5, all);
        addWhere(outbox.isRetired() && !hasStopped, 6, all);
    }

    private void addWhere(boolean may, int move, List<Move> all) {
        if (may) {
            all.add(moves.get(move));
        }
    }

    /** Returns whether it has no effect any more. */
    boolean isOver() {
        return hasStopped && thread.isEmpty() && toCoordinator.isEmpty();
    }

    private void comeToLife() {
        isBorn = true;
        toCoordinator.add(() -> run.cluster().coordinatorOf(node).hosted(this));
        node.transport().register(this);
        for (int stage : plan.stagesOf(rank())) {
            order(new Part(true, () -> open(stage)));
        }
    }

    private void open(int index) {
        SimulatedStage stage = plan.newStage(index, plan.tensorOf(rank()));
        if (startsAfter > run.firstStep()) {
            stage.load(node.snapshots().find(rank(), index, startsAfter).orElseThrow(() -> new IllegalStateException(
                    "there is no snapshot of stage " + index + " after " + startsAfter + " steps")));
        }
        assertEquals(run.truth().weights(rank(), index, startsAfter), stage.weights(),
                "what " + name() + " starts from");
        stages.put(index, stage);
        for (Action any : plan.receivesOf(rank(), index)) {
            for (int credit = 0; credit < plan.creditsPerEdge(); credit++) {
                outbox.grant(plan.edgeOf(rank(), any), SimulatedTransport.BUFFER);
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

    // Events from the transport, on its thread.

    void landed(Carrier.Message message, int transportEpoch) {
        Edge edge = message.edge();
        assertEquals(transportEpoch, message.epoch(), () -> "the epoch of what landed on " + edge);
        run.contents().lands(incarnation, message);
        Action receive = plan.messages(rank()).actionOf(new MessageKey(edge, message.microbatch())).orElseThrow();
        if (ops.land(receive, message.pass(), message.content())) {
            hear(() -> take(new RankEvent.Landed(receive, message.pass())));
        } else {
            outbox.grant(edge, SimulatedTransport.BUFFER);
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
        outbox.returned(edge, SimulatedTransport.BUFFER);
    }

    void messageLost(String sentence) {
        hear(() -> tellCoordinator(new RunEvent.MessageLost(epoch, sentence)));
    }

    private void hear(Runnable news) {
        if (!hasFailed && !hasStopped) {
            fromTransport.add(news);
        }
    }

    // Messages of the coordinator.

    void tell(int term, Runnable news) {
        if (!hasFailed && !hasStopped) {
            fromCoordinator.add(() -> {
                if (machine.obeys(term)) {
                    news.run();
                }
            });
        }
    }

    void startPass(Pass started, List<WeightUpdate> updates) {
        pass = started;
        steps.begin(started, updates);
        ops.beginPass();
        outbox.begin(started.number());
        take(new RankEvent.PassStarted(started, updates.size()));
    }

    void applyUpdate(WeightUpdate asked) {
        take(new RankEvent.UpdateRequested(steps.decided(asked)));
    }

    void resume(RunCommand.Resume resume) {
        transport.cutOff(run.protocol().cutsLogsBy(),
                () -> outbox.resume(resume.epoch(), resume.pass(), resume.from(rank())));
    }

    void writeCheckpoint(long stepsDone) {
        order(new Part(true, () -> {
            String checksum = stages.values().stream().map(SimulatedStage::weights).toList().toString();
            fromThread.add(() -> tellCoordinator(new RunEvent.CheckpointPartWritten(incarnation,
                    new CheckpointPart("rank-" + rank(), stepsDone, checksum))));
        }));
    }

    private void tellCoordinator(RunEvent event) {
        toCoordinator.add(() -> run.cluster().coordinatorOf(node).ask(event));
    }

    private void take(RankEvent event) {
        machine.on(event).forEach(this::carryOut);
    }

    private void carryOut(RankCommand command) {
        switch (command) {
            case RankCommand.Run(Action action, var sends) -> order(action, sends);
            case RankCommand.Send(Action send) -> ops.send(send, pass);
            case RankCommand.Discard(Action receive, long ofPass) -> discard(receive, ofPass);
            case RankCommand.ReportEpochReady(int stood, long number, var received) ->
                tellCoordinator(new RunEvent.EpochReady(incarnation, stood, number,
                        plan.messages(rank()).keysOf(received)));
            case RankCommand.ReportPassDone(Pass done, long step) -> {
                ActionResult measured = steps.takeMeasured(step);
                tellCoordinator(new RunEvent.PassDone(incarnation, done, step, measured.losses(),
                        measured.squaredSums()));
            }
            case RankCommand.ReportUpdated(long step) -> {
                long messages = outbox.bytesSent() - toldMessages;
                toldMessages += messages;
                tellCoordinator(new RunEvent.Updated(incarnation, step, new Traffic(messages, 0, 0, 0)));
            }
        }
    }

    private void discard(Action receive, long ofPass) {
        long content = ops.take(receive, ofPass);
        if (run.protocol().acceptsDuplicates() && ops.hasUsed(receive)) {
            stages.get(receive.stage()).addAgain(content);
        }
        outbox.grant(plan.edgeOf(rank(), receive), SimulatedTransport.BUFFER);
    }

    /** Orders work; an abandoned thread takes nothing more. */
    private void order(Part part) {
        if (!outbox.isRetired()) {
            thread.add(part);
        }
    }

    private void order(Action action, List<Action> sends) {
        Pass of = steps.passOf(action);
        Optional<WeightUpdate> asked = steps.updateOf(action);
        order(new Part(true, () -> ops.perform(action, of, asked)));
        sends.forEach(send -> order(new Part(false, () -> ops.send(send, of))));
        order(new Part(false, () -> {
            ActionResult result = ops.takeResult();
            fromThread.add(() -> ended(action, result));
        }));
    }

    private void ended(Action action, ActionResult result) {
        steps.measured(action, result);
        take(new RankEvent.ActionDone(action));
    }

    /** Returns the number of buffers of an edge it holds itself: they landed, and are not used yet. */
    long landed(Edge edge) {
        return ops.landed(edge);
    }

    long weights(int stage) {
        return stages.get(stage).weights();
    }

    // Its end.

    /** Fails: its thread and undelivered orders are lost, and its sent messages are still in flight. */
    void fail() {
        hasFailed = true;
        thread.clear();
        clearMail();
    }

    /** Is given up by its node: it may continue for a while, without any effect. A write that has begun ends. */
    void retire() {
        outbox.retire();
        Part next = thread.peekFirst();
        while (next != null && !next.begins() && next.isReady().getAsBoolean()) {
            thread.remove().work().run();
            next = thread.peekFirst();
        }
        thread.clear();
    }

    void loseControl() {
        fromCoordinator.clear();
        toCoordinator.clear();
    }

    /** The oldest message between the rank and the coordinator is lost; false if there is none. */
    boolean loseOneControl() {
        return fromCoordinator.poll() != null || toCoordinator.poll() != null;
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
                + (loading.isEmpty() ? machine.situation() : "loading " + loading)
                + (outbox.isRetired() ? "; it is retired" : "");
    }
}
