package dev.troupe.actor;

import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StallWatch;
import java.util.Optional;

/**
 * Watches a run that has begun for standing still, and draws where it stands. Belongs to the coordinator.
 */
final class Standstills {
    private final CoordinatorSetup setup;
    /** There once the run has begun: nothing can stand still before. */
    private Optional<StallWatch> watch = Optional.empty();

    Standstills(CoordinatorSetup setup) {
        this.setup = setup;
    }

    /** The run begins, or an epoch of it does; a kernel of it takes as long as this. */
    void begin(long longestKernelNanos) {
        watch = Optional.of(new StallWatch(setup.settings().rankCount(), setup.timeout().toNanos(),
                setup.hangTimeout().toNanos(), longestKernelNanos, setup.clock().getAsLong()));
    }

    void onStatus(RankStatus status) {
        watch.ifPresent(begun -> begun.onStatus(status, setup.clock().getAsLong()));
    }

    /** A checkpoint moves that ranks may be waiting for. */
    void onMoved() {
        watch.ifPresent(begun -> begun.onMoved(setup.clock().getAsLong()));
    }

    /** What stands still, as what the run is to hear. */
    Optional<RunEvent> look(RunMachine machine) {
        return watch.flatMap(begun -> begun.stall(setup.clock().getAsLong())).map(stall -> {
            String sentence = StallFile.write(setup.directory(), setup.plan(), machine.epoch(), machine.stepsDone(),
                    stall);
            return stall.rank().isPresent()
                    ? new RunEvent.RankFailed(machine.incarnation(stall.rank().getAsInt()), sentence)
                    : new RunEvent.MessageLost(machine.epoch(), sentence);
        });
    }
}
