package dev.troupe.run.actor;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.rank.RankListener;
import dev.troupe.rank.RankTelemetry;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.transport.TransportFault;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * The messages of a rank's resources: its events go to the rank's actor, its telemetry to the coordinator. Thread rule: any
 * thread.
 */
record RankMessenger(Incarnation rank, ActorRef<ScheduleActor.Command> actor,
        ActorRef<TrainingCoordinator.Command> coordinator)
        implements
            RankListener,
            RankTelemetry.Receiver {
    @Override
    public void moved(RankEvent event) {
        actor.tell(new ScheduleActor.Moved(event));
    }

    @Override
    public void epochBegun(int epoch) {
        actor.tell(new ScheduleActor.EpochBegun(epoch));
    }

    @Override
    public void transportFailed(TransportFault fault) {
        actor.tell(new ScheduleActor.TransportFailed(fault));
    }

    @Override
    public void breakDown(RuntimeException failure) {
        actor.tell(new ScheduleActor.BreakDown(failure));
    }

    @Override
    public boolean isElsewhere() {
        return !coordinator.path().address().hasLocalScope();
    }

    @Override
    public void timed(long step, List<StageTime> times) {
        coordinator.tell(new TrainingCoordinator.StepTimed(rank, step, times));
    }

    @Override
    public void traced(long step, RankTimes times) {
        coordinator.tell(new TrainingCoordinator.StepTraced(rank, step, times));
    }

    @Override
    public void digested(long step, RankBits bits) {
        coordinator.tell(new TrainingCoordinator.StepDigested(rank, step, bits));
    }
}
