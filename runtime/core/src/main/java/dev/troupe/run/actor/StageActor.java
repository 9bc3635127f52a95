package dev.troupe.run.actor;

import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.rank.ActionRequest;
import dev.troupe.rank.RankResources;
import dev.troupe.rank.StageWorker;
import dev.troupe.weights.Progress;
import dev.troupe.weights.TensorPart;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * The actor of one stage of one rank. It owns its slice of layers: weights, gradients, optimizer state, activations. On the
 * {@linkplain StageThread rank's thread} it loads them and computes the orders of the rank's schedule actor. The schedule
 * actor answers status requests, since a stage cannot while it computes. No other code uses the stage, except that the
 * transport's thread returns sent tensors ({@code Stage.release}).
 */
final class StageActor extends AbstractBehavior<StageActor.Command> {
    sealed interface Command {
    }

    /**
     * The order to perform an action, and to hand its sends to the transport.
     *
     * @param order the number of this order among all of the rank, from 0
     */
    record Compute(long order, ActionRequest request) implements Command {
    }

    /**
     * The order to add weights and optimizer state to the rank's part of a checkpoint. It goes from stage to stage of the
     * rank; the last one writes the file. The rank computes nothing meanwhile.
     */
    record WriteCheckpoint(long stepsDone, List<TensorPart> parts, List<ActorRef<Command>> rest) implements Command {
        WriteCheckpoint {
            parts = List.copyOf(parts);
            rest = List.copyOf(rest);
        }
    }

    private final int index;
    private final RankResources rank;
    private final StageThread thread;
    private final ActorRef<ScheduleActor.Command> schedule;
    private final StageWorker stage;

    private StageActor(ActorContext<Command> context, StageWorker stage, int index, HostedRank hosted,
            ActorRef<ScheduleActor.Command> schedule) {
        super(context);
        this.stage = stage;
        this.index = index;
        this.rank = hosted.resources();
        this.thread = hosted.thread();
        this.schedule = schedule;
    }

    /** Builds the stage with its weights, reports to the schedule actor, then takes orders. */
    static Behavior<Command> create(int index, HostedRank hosted, ActorRef<ScheduleActor.Command> schedule) {
        return Behaviors.setup(context -> {
            if (hosted.thread().hasEnded()) {
                return Behaviors.stopped();
            }
            hosted.thread().computes();
            try {
                RankResources rank = hosted.resources();
                StageWorker stage = Progress.reportedTo(rank.pulse()::beat, () -> rank.open(index));
                schedule.tell(new ScheduleActor.StageReady(index));
                return new StageActor(context, stage, index, hosted, schedule);
            } catch (Throwable failure) { // an error too: the rank must be notified
                return failed(index, "loading its weights", failure, hosted.thread(), schedule);
            } finally {
                hosted.thread().computed();
            }
        });
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(Compute.class, this::onCompute)
                .onMessage(WriteCheckpoint.class, this::onWriteCheckpoint).build();
    }

    private Behavior<Command> onCompute(Compute order) {
        if (thread.hasEnded()) {
            return this;
        }
        if (!thread.isNext(order.order())) {
            getContext().getSelf().tell(order);
            return this;
        }
        ActionRequest request = order.request();
        long step = rank.plan().rows().stepOf(request.action(), request.pass());
        return perform("in " + request.action() + " in step " + step, () -> {
            ActionResult result = stage.run(request);
            schedule.tell(new ScheduleActor.ActionEnded(request.action(), result, stage.lastNanos()));
        });
    }

    private Behavior<Command> onWriteCheckpoint(WriteCheckpoint write) {
        return perform("writing the checkpoint after " + write.stepsDone() + " steps", () -> {
            List<TensorPart> parts = new ArrayList<>(write.parts());
            parts.addAll(stage.state());
            if (write.rest().isEmpty()) {
                schedule.tell(new ScheduleActor.CheckpointAnswered(rank.writeCheckpoint(write.stepsDone(), parts)));
            } else {
                write.rest().getFirst().tell(new WriteCheckpoint(write.stepsDone(), parts,
                        write.rest().subList(1, write.rest().size())));
            }
        });
    }

    private Behavior<Command> perform(String what, Runnable work) {
        thread.computes();
        try {
            Progress.reportedTo(rank.pulse()::beat, () -> {
                work.run();
                return null;
            });
            return this;
        } catch (Throwable failure) { // an error too: the rank must be notified
            return failed(index, what, failure, thread, schedule);
        } finally {
            thread.computed();
        }
    }

    /** Ends a stage that failed; from then on no stage of the rank takes orders. */
    private static Behavior<Command> failed(int index, String what, Throwable failure, StageThread thread,
            ActorRef<ScheduleActor.Command> schedule) {
        thread.fail();
        schedule.tell(new ScheduleActor.StageFailed(index, what, failure));
        return Behaviors.stopped();
    }
}
