package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.model.LayerSquaredSum;
import dev.troupe.run.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.transport.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * A whole run of machines with no actor, thread, clock or tensor: the machine of every rank, that of the coordinator, and a
 * {@link Carrier} between them. At each point it lists what may happen next, and the caller chooses: what is not chosen is
 * late. {@link Truth} looks on.
 */
final class Simulation {
    private static final int LONGEST_RUN = 200_000;

    /** Something that may happen next. */
    sealed interface Move {
        record EndTask(int rank) implements Move {
        }

        record TellEnd(int rank) implements Move {
        }

        record Land(Edge edge) implements Move {
        }

        record Hear(Edge edge) implements Move {
        }

        record TellRank(int rank) implements Move {
        }

        record TellCoordinator(int rank) implements Move {
        }
    }

    private static final class Rank {
        private RankMachine machine;
        private final Deque<RankCommand.Run> ordered = new ArrayDeque<>();
        private final Deque<StageTask> ended = new ArrayDeque<>();
        private final Deque<CoordinatorCommand> inbox = new ArrayDeque<>();
        private final Deque<CoordinatorEvent> outbox = new ArrayDeque<>();
        private final List<MicrobatchLoss> losses = new ArrayList<>();
        private final List<LayerSquaredSum> squaredSums = new ArrayList<>();
        private Pass pass;
    }

    private final TrainingPlan plan;
    private final RunOrder order;
    private final CoordinatorMachine coordinator;
    private final List<Rank> ranks = new ArrayList<>();
    private final Carrier carrier;
    private final Truth truth;

    private int moveCount;
    private boolean over;
    private final List<Long> checkpoints = new ArrayList<>();
    private final List<Long> heldOut = new ArrayList<>();
    private long committed;

    Simulation(RunShape shape, RunOrder order) {
        this.plan = shape.plan();
        this.order = order;
        this.coordinator = new CoordinatorMachine(order);
        this.carrier = new Carrier(shape.credits());
        this.truth = new Truth(plan);
        this.committed = order.firstStep();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            Rank state = new Rank();
            List<Integer> stages = plan.stagesOf(rank);
            state.machine = new RankMachine(rank, plan.row(Pass.Kind.TRAINING, rank),
                    plan.row(Pass.Kind.HELD_OUT, rank),
                    stages, stages.stream().filter(plan::exchangesTiedGradient).toList());
            state.outbox.add(new CoordinatorEvent.Standing(new Incarnation(rank, 0), 0, -1, List.of()));
            ranks.add(state);
            stages.forEach(stage -> grantFirstCredits(stage, shape.credits()));
        }
    }

    private void grantFirstCredits(int stage, int credits) {
        for (Kind kind : List.of(Kind.RECV_F, Kind.RECV_B)) {
            Action receive = new Action(stage, kind, 0);
            for (int credit = 0; plan.needsMessage(receive) && credit < credits; credit++) {
                carrier.grant(edgeOf(receive));
            }
        }
    }

    /** Goes to the end; {@code choice} picks the index of the next move, given how many there are. */
    void run(ToIntFunction<List<Move>> choice) {
        while (!over) {
            List<Move> moves = moves();
            if (moves.isEmpty()) {
                fail("the run is stuck: " + situation());
            }
            assertTrue(moveCount++ < LONGEST_RUN, "the run has no end");
            make(moves.get(choice.applyAsInt(moves)));
        }
        assertTrue(carrier.isEmpty(), "messages are left over");
        assertTrue(moves().stream().allMatch(move -> move instanceof Move.Hear), () -> "left over: " + moves());
    }

    /** The user asks for the end of the run. */
    void stop() {
        ask(new CoordinatorEvent.StopRequested());
    }

    int moveCount() {
        return moveCount;
    }

    long committed() {
        return committed;
    }

    List<Long> checkpoints() {
        return checkpoints;
    }

    List<Long> heldOut() {
        return heldOut;
    }

    private List<Move> moves() {
        List<Move> moves = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            if (!ranks.get(rank).ordered.isEmpty()) {
                moves.add(new Move.EndTask(rank));
            }
            if (!ranks.get(rank).ended.isEmpty()) {
                moves.add(new Move.TellEnd(rank));
            }
            if (!ranks.get(rank).inbox.isEmpty()) {
                moves.add(new Move.TellRank(rank));
            }
            if (!ranks.get(rank).outbox.isEmpty()) {
                moves.add(new Move.TellCoordinator(rank));
            }
        }
        carrier.landable().forEach(edge -> moves.add(new Move.Land(edge)));
        carrier.unheard().forEach(edge -> moves.add(new Move.Hear(edge)));
        return moves;
    }

    private void make(Move move) {
        switch (move) {
            case Move.EndTask(int rank) -> endTask(rank);
            case Move.TellEnd(int rank) -> tellEnd(rank);
            case Move.Land(Edge edge) -> land(carrier.land(edge));
            case Move.Hear(Edge edge) -> {
                carrier.hear(edge);
            }
            case Move.TellRank(int rank) -> hearCoordinator(rank, ranks.get(rank).inbox.remove());
            case Move.TellCoordinator(int rank) -> ask(ranks.get(rank).outbox.remove());
        }
    }

    private void land(Carrier.Message message) {
        Edge edge = message.edge();
        switch (edge.kind()) {
            case ACTIVATION -> tell(edge.toRank(),
                    new RankEvent.Landed(new Action(edge.stage(), Kind.RECV_F, message.microbatch()), message.pass()));
            case GRADIENT -> tell(edge.toRank(),
                    new RankEvent.Landed(new Action(edge.stage(), Kind.RECV_B, message.microbatch()), message.pass()));
            case TIED_GRADIENT -> {
                truth.tiedLands(edge.stage());
                tell(edge.toRank(), new RankEvent.TiedGradientLanded(edge.stage()));
            }
        }
    }

    private void tell(int rank, RankEvent event) {
        for (RankCommand command : ranks.get(rank).machine.on(event)) {
            carryOut(rank, command);
        }
    }

    private void carryOut(int index, RankCommand command) {
        Rank rank = ranks.get(index);
        switch (command) {
            case RankCommand.Run run -> {
                rank.ordered.add(run);
                if (rank.ordered.size() == 1) {
                    beginTask(index, run.task());
                }
            }
            case RankCommand.Send(Action send) -> send(index, send);
            case RankCommand.Discard _,RankCommand.ReportStanding _ -> fail("nothing fails, but " + command);
            case RankCommand.ReportPassDone(Pass pass) -> {
                rank.outbox.add(
                        new CoordinatorEvent.PassDone(new Incarnation(index, 0), pass, rank.losses, rank.squaredSums));
                rank.losses.clear();
                rank.squaredSums.clear();
            }
            case RankCommand.ReportUpdated(long step) ->
                rank.outbox.add(new CoordinatorEvent.Updated(new Incarnation(index, 0), step, Traffic.NONE));
        }
    }

    private Edge edgeOf(Action message) {
        return plan.edgeOf(0, message); // one pipeline: any of its ranks tells which
    }

    private Edge tiedEdge(int fromStage, int toStage) {
        return plan.tiedEdge(0, fromStage, toStage);
    }

    private void send(int rank, Action send) {
        truth.sends(send);
        carrier.send(new Carrier.Message(edgeOf(send), send.microbatch(), ranks.get(rank).pass.number()));
    }

    private void beginTask(int rank, StageTask task) {
        switch (task) {
            case StageTask.Compute(Action action) -> {
                truth.computeBegins(rank, action);
                if (action.kind() == Kind.FORWARD) {
                    consume(action.as(Kind.RECV_F));
                } else if (action.kind().makesInputGradient()) {
                    consume(action.as(Kind.RECV_B));
                }
            }
            case StageTask.ExchangeTiedGradient(int stage) -> {
                truth.exchange(rank, stage);
                int other = plan.otherTiedStage(stage);
                carrier.grant(tiedEdge(other, stage));
                carrier.send(new Carrier.Message(tiedEdge(stage, other), 0, ranks.get(rank).pass.number()));
            }
            case StageTask.AddTiedGradient(int stage) -> {
                truth.add(stage);
                carrier.consume(tiedEdge(plan.otherTiedStage(stage), stage));
            }
            case StageTask.MeasureGradients(int stage) -> truth.measure(rank, stage);
            case StageTask.Update(int stage) -> truth.update(stage);
        }
    }

    private void consume(Action receive) {
        if (plan.needsMessage(receive)) {
            carrier.consume(edgeOf(receive));
            carrier.grant(edgeOf(receive));
        }
    }

    /** The rank's thread ends a task, sends what follows it, and goes on with the next without asking. */
    private void endTask(int index) {
        Rank rank = ranks.get(index);
        RankCommand.Run run = rank.ordered.remove();
        if (run.task() instanceof StageTask.Compute(Action action)) {
            truth.computeEnds(index, action);
        }
        run.sends().forEach(send -> send(index, send));
        rank.ended.add(run.task());
        if (!rank.ordered.isEmpty()) {
            beginTask(index, rank.ordered.peek().task());
        }
    }

    private void tellEnd(int index) {
        Rank rank = ranks.get(index);
        StageTask task = rank.ended.remove();
        switch (task) {
            case StageTask.Compute(Action action) -> {
                if (action.kind() == Kind.FORWARD && action.stage() == plan.partition().stageCount() - 1) {
                    rank.losses.add(
                            new MicrobatchLoss(action.microbatch(), Truth.loss(rank.pass, action.microbatch())));
                }
            }
            case StageTask.MeasureGradients(int stage) -> {
                var layers = plan.partition().layers(stage);
                for (int layer = layers.first(); layer <= layers.last(); layer++) {
                    rank.squaredSums.add(Truth.squaredSum(rank.pass, layer));
                }
            }
            case StageTask.ExchangeTiedGradient _,StageTask.AddTiedGradient _,StageTask.Update _ -> {
            }
        }
        tell(index, new RankEvent.TaskDone(task));
    }

    private void hearCoordinator(int index, CoordinatorCommand command) {
        switch (command) {
            case CoordinatorCommand.StartPass(Pass pass, var _) -> {
                ranks.get(index).pass = pass;
                tell(index, new RankEvent.PassStarted(pass));
            }
            case CoordinatorCommand.Update _ -> tell(index, new RankEvent.UpdateRequested());
            case CoordinatorCommand.WriteCheckpoint _ -> ranks.get(index).outbox.add(
                    new CoordinatorEvent.CheckpointPartWritten(new Incarnation(index, 0),
                            new CheckpointPart("rank-" + index, 1, "00")));
            case CoordinatorCommand.CommitStep _,CoordinatorCommand.ReportHeldOut _,CoordinatorCommand.CommitCheckpoint _,CoordinatorCommand.AbandonCheckpoint _,CoordinatorCommand.ReportCheckpointFailed _,CoordinatorCommand.Finish _,CoordinatorCommand.Fail _,CoordinatorCommand.EnterEpoch _,CoordinatorCommand.Resume _,CoordinatorCommand.ReportCaughtUp _ ->
                fail(command + " is not for a rank");
        }
    }

    private void ask(CoordinatorEvent event) {
        for (CoordinatorCommand command : coordinator.on(event)) {
            switch (command) {
                case CoordinatorCommand.StartPass(Pass pass, var _) -> {
                    truth.passStarts(pass);
                    tellAll(command);
                }
                case CoordinatorCommand.Update _ -> {
                    truth.updateAllowed();
                    tellAll(command);
                }
                case CoordinatorCommand.CommitStep(StepResult result) -> {
                    assertEquals(committed++, result.step(), "the step that is committed");
                    truth.commits(result);
                }
                case CoordinatorCommand.ReportHeldOut(long stepsDone, double loss) -> {
                    assertTrue(truth.isWholePass(), "a held-out loss of a part of the data");
                    assertEquals(Truth.meanLoss(new Pass(stepsDone - 1, Pass.Kind.HELD_OUT),
                            RunShape.HELD_OUT_MICROBATCHES), loss, "held-out loss, bit for bit");
                    heldOut.add(stepsDone);
                }
                case CoordinatorCommand.WriteCheckpoint _ -> tellAll(command);
                case CoordinatorCommand.CommitCheckpoint(long stepsDone, var _, var parts) -> {
                    assertEquals(order.rankCount(), parts.size(), "parts of a checkpoint");
                    assertEquals(committed, stepsDone, "steps in the checkpoint");
                    checkpoints.add(stepsDone);
                    ask(new CoordinatorEvent.CheckpointCommitted());
                }
                case CoordinatorCommand.AbandonCheckpoint _,CoordinatorCommand.ReportCheckpointFailed _ ->
                    fail(command + ", but every part was written");
                case CoordinatorCommand.Finish(long stepsDone) -> {
                    assertEquals(committed, stepsDone, "steps at the end");
                    over = true;
                }
                case CoordinatorCommand.EnterEpoch _,CoordinatorCommand.Resume _,CoordinatorCommand.ReportCaughtUp _ ->
                    fail("nothing failed, but " + command);
                case CoordinatorCommand.Fail(String reason) -> fail("the run failed: " + reason);
            }
        }
    }

    private void tellAll(CoordinatorCommand command) {
        ranks.forEach(rank -> rank.inbox.add(command));
    }

    private String situation() {
        StringBuilder text = new StringBuilder("the coordinator misses " + coordinator.missing());
        for (int rank = 0; rank < ranks.size(); rank++) {
            text.append("; rank ").append(rank).append(" is ").append(ranks.get(rank).machine.situation());
        }
        return text.toString();
    }
}
