package dev.troupe.actor;

import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * The life of one stage of one rank: it has the stage built and its state written, on the rank's thread, and tells its
 * schedule actor, and so answers at once whatever the stage computes. The tasks of the row come to the thread from the
 * schedule actor itself: only there have those of two stages one order.
 */
final class StageActor extends AbstractBehavior<StageActor.Command> {
    /** What a stage actor is told. */
    sealed interface Command {
    }

    /** Write the rank's part of a checkpoint: the rank stands still meanwhile, so one thread may read all its stages. */
    record WriteCheckpoint(long stepsDone) implements Command {
    }

    private final int stage;
    private final RankResources rank;
    private final RankThread thread;
    private final ActorRef<ScheduleActor.Command> schedule;

    private StageActor(ActorContext<Command> context, int stage, RankResources rank,
            ActorRef<ScheduleActor.Command> schedule) {
        super(context);
        this.stage = stage;
        this.rank = rank;
        this.thread = rank.thread();
        this.schedule = schedule;
        run("loading its weights", () -> {
            rank.open(stage);
            return new ScheduleActor.StageReady(stage);
        });
    }

    /** Builds the stage on the rank's thread, then keeps it. */
    static Behavior<Command> create(int stage, RankResources rank, ActorRef<ScheduleActor.Command> schedule) {
        return Behaviors.setup(context -> new StageActor(context, stage, rank, schedule));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(WriteCheckpoint.class, this::onWriteCheckpoint).build();
    }

    private Behavior<Command> onWriteCheckpoint(WriteCheckpoint write) {
        run("writing the checkpoint after " + write.stepsDone() + " steps",
                () -> new ScheduleActor.CheckpointAnswered(rank.writeCheckpoint(write.stepsDone())));
        return this;
    }

    private void run(String what, Supplier<ScheduleActor.Command> work) {
        thread.run(work).whenComplete((news, failure) -> schedule
                .tell(failure == null ? news : new ScheduleActor.StageFailed(stage, what, failure)));
    }
}
