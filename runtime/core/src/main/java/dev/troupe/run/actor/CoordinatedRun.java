package dev.troupe.run.actor;

import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.RunEvent;

/** The run of a coordinator: not begun, or led. Thread rule: the coordinator's thread. */
sealed interface CoordinatedRun permits CoordinatedRun.NotBegun, LedRun {
    int epoch();

    long stepsDone();

    ReplicaTable replicas();

    void on(TrainingCoordinator.OfRun message);

    void take(RunEvent event);

    /** Restarts all ranks, for this reason, from the last commit of the earlier coordinator. */
    void succeed(String reason);

    /** Checks whether the run has waited too long for anything, and asks all ranks for their status. */
    void look();

    /** A run that has not begun, or is not known to this coordinator yet; it ignores messages. */
    record NotBegun(long stepsDone, ReplicaTable replicas) implements CoordinatedRun {
        @Override
        public int epoch() {
            return 0;
        }

        @Override
        public void on(TrainingCoordinator.OfRun message) {
            // It was meant for a coordinator that is lost.
        }

        @Override
        public void take(RunEvent event) {
            throw new IllegalStateException(event + " of a run that has not begun");
        }

        @Override
        public void succeed(String reason) {
            throw new IllegalStateException("a failover to a run that has not begun");
        }

        @Override
        public void look() {
            // No rank works for this coordinator.
        }
    }
}
