package dev.troupe.rank;

import dev.troupe.batch.Batches;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.offload.StateStore;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.rank.bits.GradientDump;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.group.RankGroups;
import dev.troupe.rank.snapshot.CopyRoutes;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.trace.Pauses;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightSource;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * The parts that all ranks of a node share. Any thread may read it.
 *
 * @param gradientDump the writer of one step's gradients, if requested
 * @param pauses the times in which this process did not run
 */
public record NodeContext(TrainingPlan plan, Links links, Devices devices, Start start, Data data, Recovery recovery,
        CheckpointStore checkpoints, Optional<GradientDump> gradientDump, Pauses pauses, FaultInjector faults) {
    public record Links(Transport transport, RankGroups groups) {
    }

    /**
     * The devices of ranks.
     *
     * @param engines opens the engine of a rank, by its number
     * @param clocks supplies the work clock of a rank's engine
     * @param stores supplies the store of a rank's state, by its number
     */
    public record Devices(IntFunction<CheckedEngine> engines, Supplier<WorkClock> clocks,
            IntFunction<StateStore> stores) {
    }

    /**
     * The state from which the run starts.
     *
     * @param resumes whether the weights include optimizer state
     * @param firstStep steps done with these weights
     */
    public record Start(WeightSource weights, boolean resumes, long firstStep) {
    }

    /**
     * The data of the run.
     *
     * @param validation the data of the validation loss, if it is measured
     */
    public record Data(Batches batches, Optional<ValidationBatches> validation) {
    }

    /**
     * The means to recover from a failure.
     *
     * @param snapshots the states from which ranks restart; empty if a failure ends the run
     * @param copies the routes of snapshots to other nodes
     * @param warmsUp whether a node without ranks warms up for a takeover
     */
    public record Recovery(Optional<Snapshots> snapshots, CopyRoutes copies, boolean warmsUp) {
    }

    /** Returns a context for ranks that warm up, without access to other ranks, or to state and files of the run. */
    NodeContext forWarmUp(Transport alone, RankGroups aloneIn, Snapshots kept) {
        Devices withoutStore = new Devices(devices.engines(), devices.clocks(), _ -> StateStore.NOTHING);
        return new NodeContext(plan, new Links(alone, aloneIn), withoutStore,
                new Start(RankResources.NOTHING, false, 0),
                data,
                new Recovery(Optional.of(kept), new CopyRoutes(), false), checkpoints, Optional.empty(), new Pauses(),
                FaultInjector.NONE);
    }
}
