package dev.troupe.rank;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.rank.RankCommand;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.warmup.WarmUpGroups;
import dev.troupe.rank.warmup.WarmUpTransport;
import dev.troupe.schedule.Action;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportFault;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.LongPredicate;

/**
 * A rehearsal of a takeover by one rank. It opens its stages after a given step, walks its row of the next step and keeps
 * its results. Code and sizes are those that the run uses. Thread rule: one thread.
 */
final class WarmUpRun implements AutoCloseable {
    /** The weights stay unchanged, whatever the inputs. */
    private static final double LEARNING_RATE = 0;

    /** Longer than any wait for absent group members. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    private final TrainingPlan plan;
    private final WarmUpTransport transport = new WarmUpTransport();
    private final RankResources rank;
    private final RankMachine machine;
    private final Pass pass;
    private final WeightUpdate update;
    private final LongPredicate pace;
    private final Map<Integer, StageWorker> stages = new HashMap<>();
    private final Queue<RankEvent> events = new ArrayDeque<>();
    private boolean continues = true;
    private boolean isDone;
    private long nanos;

    /**
     * @param node the node that warms up; no file or state of the run is touched
     * @param pace receives the nanoseconds of each action, and returns whether the next may begin
     */
    WarmUpRun(NodeContext node, Snapshots kept, int number, int stepsDone, LongPredicate pace) {
        this.plan = node.plan();
        this.rank = new RankResources(new Incarnation(number, stepsDone, 0), stepsDone,
                node.forWarmUp(transport, new WarmUpGroups(plan.ranks()), kept));
        this.machine = rank.machine();
        this.pass = new Pass(stepsDone, Pass.Kind.TRAINING);
        this.update = new WeightUpdate(stepsDone, LEARNING_RATE, 1, stepsDone + 1, false);
        this.pace = pace;
    }

    /** Runs the rehearsal; returns false if {@code pace} ended it. */
    boolean run() {
        rank.listen(new Arrivals());
        for (int stage : rank.stages()) {
            paced(() -> stages.put(stage, rank.open(stage)));
        }
        rank.outbox().begin(pass.number());
        rank.outbox().resume(rank.incarnation().epoch(), pass.number(), MessageKeys.NONE);
        events.add(new RankEvent.PassStarted(pass));
        if (continues) {
            transport.bring(messages());
        }
        while (continues && !events.isEmpty()) {
            machine.on(events.remove()).forEach(this::carryOut);
        }
        if (continues && !isDone) {
            throw new IllegalStateException("rank " + rank.rank() + " stopped warming up while it is "
                    + machine.situation());
        }
        return isDone;
    }

    /** Returns the time of the actions, without the pauses between them. */
    long nanos() {
        return nanos;
    }

    /** Queues the tensors that land; a rank without others enters no epoch and loses no message. */
    private final class Arrivals implements RankListener {
        @Override
        public void moved(RankEvent event) {
            events.add(event);
        }

        @Override
        public void epochBegun(int epoch) {
        }

        @Override
        public void transportFailed(TransportFault fault) {
        }

        @Override
        public void breakDown(RuntimeException failure) {
        }
    }

    /** Returns the pass's messages from other ranks. */
    private List<WarmUpTransport.Message> messages() {
        int epoch = rank.incarnation().epoch();
        List<WarmUpTransport.Message> messages = new ArrayList<>();
        for (Action action : plan.row(pass.kind(), rank.rank()).actions()) {
            if (action.kind().isReceive() && plan.needsMessage(action)) {
                MessageKey key = plan.keyOf(rank.rank(), action);
                messages.add(new WarmUpTransport.Message(
                        new MessageId(epoch, pass.number(), key.edge(), key.microbatch()),
                        stages.get(action.stage()).rowsOf(action, pass)));
            }
        }
        return messages;
    }

    private void carryOut(RankCommand command) {
        switch (command) {
            case RankCommand.Run(var action, var sends) -> {
                paced(() -> stages.get(action.stage())
                        .run(new ActionRequest(action, sends, pass, Optional.of(update))));
                events.add(new RankEvent.ActionDone(action));
            }
            case RankCommand.Send(var send) -> rank.tensors().send(send, pass);
            case RankCommand.Discard(var receive, long ofPass) -> rank.tensors().discard(receive, ofPass);
            case RankCommand.ReportPassDone(Pass done, long step) ->
                events.add(new RankEvent.UpdateRequested((int) (step - done.step())));
            case RankCommand.ReportUpdated _ -> isDone = true;
            case RankCommand.ReportEpochReady ready ->
                throw new IllegalStateException("nobody began an epoch, but found " + ready);
        }
    }

    private void paced(Runnable action) {
        if (continues) {
            long start = System.nanoTime();
            action.run();
            long took = System.nanoTime() - start;
            nanos += took;
            continues = pace.test(took);
        }
    }

    @Override
    public void close() {
        rank.letGo();
        rank.close(System.nanoTime() + THREAD_END.toNanos());
    }
}
