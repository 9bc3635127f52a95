package dev.troupe.plan.prepare;

import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.spec.CommitSpec;
import dev.troupe.engine.Engine;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.protocol.replica.SnapshotSlots;
import java.util.List;

/**
 * A planned run with the memory of each rank. Immutable; any thread.
 *
 * <p>A planner stops here. It opens the model and the data once, and sizes each configuration that it considers. Nothing is
 * written, no directory is looked at, and the memory of this machine is not compared:
 *
 * {@snippet :
 * try (OpenedRun opened = OpenedRun.of(request)) {
 *     for (RunSpec candidate : candidates) {
 *         SizedRun sized = SizedRun.of(PlannedRun.of(opened.with(candidate)));
 *         Certificate plan = sized.planned().plan().training();
 *         List<RankMemory> memory = sized.memory().ranks();
 *     }
 * }
 * }
 */
public record SizedRun(PlannedRun planned, MemoryPlan memory) {
    /**
     * Walks the plan on an engine that counts bytes.
     *
     * @throws UsageException if a tensor of the run is larger than any engine supports
     */
    public static SizedRun of(PlannedRun planned) {
        try (Engine sizes = planned.engine().open()) {
            return new SizedRun(planned, MemoryPlan.of(planned.plan(), sizes,
                    planned.opened().validation().isPresent(), snapshots(planned), copied(planned)));
        }
    }

    /** Returns the number of snapshots of a rank's state: one more if checkpoints are written during training. */
    private static int snapshots(PlannedRun planned) {
        CommitSpec commits = planned.spec().training().commits();
        boolean isPinned = commits.checkpointEvery() > 0 || !commits.checkpointInterval().isZero();
        int copies = isPinned ? SnapshotSlots.COUNT_WITH_PINNED : SnapshotSlots.COUNT;
        return planned.recovers() ? copies : 0;
    }

    /**
     * Returns the ranks with copies of their snapshots on another machine; on one machine nodes map each other's snapshots.
     */
    private static List<Integer> copied(PlannedRun planned) {
        return planned.keepsCopies() ? Buddies.ranksCopied(planned.spec().cluster().orElseThrow()) : List.of();
    }

    MemoryPlan onThisMachine() {
        RunRequest request = planned.opened().request();
        return memory.onMachine(request.ranksOfMachine(),
                planned.keepsCopies() ? request.ranksCopiedHere() : List.of());
    }

    /**
     * Refuses a run that computes and does not fit this machine.
     *
     * @throws UsageException if its ranks here need more together
     */
    public void requireRoom(long availableBytes) {
        if (planned.engine().computes()) {
            onThisMachine().requireRoom(availableBytes);
        }
    }
}
