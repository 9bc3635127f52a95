package dev.troupe.rank;

import dev.troupe.batch.Batches;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.group.RankGroups;
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
 * @param plan the plan of the run
 * @param checkpoints the checkpoints of the run
 * @param gradientDump writes the gradients of one step, if requested
 * @param pauses the times in which this process did not run
 * @param faults the faults that are injected
 */
public record NodeContext(TrainingPlan plan, Links links, Devices devices, Start start, Data data, Recovery recovery,
        CheckpointStore checkpoints, Optional<GradientDump> gradientDump, Pauses pauses, FaultInjector faults) {
    /**
     * The ways to other ranks.
     *
     * @param transport carries tensors between ranks
     * @param groups the process groups of ranks
     */
    public record Links(Transport transport, RankGroups groups) {
    }

    /**
     * The devices of ranks.
     *
     * @param engines opens the engine of a rank, by its number
     * @param clocks gives a rank the work clock of its engine
     */
    public record Devices(IntFunction<CheckedEngine> engines, Supplier<WorkClock> clocks) {
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
     * @param batches the batches of the training data
     * @param validation the batches of the validation loss, if it is measured
     */
    public record Data(Batches batches, Optional<ValidationBatches> validation) {
    }

    /**
     * The means to recover from a failure.
     *
     * @param snapshots the states from which ranks start again; empty if a failure ends the run
     * @param copies sends snapshots to other nodes
     * @param warmsUp whether a node without ranks warms up for the ranks that it may take over
     */
    public record Recovery(Optional<Snapshots> snapshots, CopyRoutes copies, boolean warmsUp) {
    }

    /** Returns the same for ranks that warm up, without a way to another rank or to the state and files of the run. */
    NodeContext forWarmUp(Transport alone, RankGroups aloneIn, Snapshots kept) {
        return new NodeContext(plan, new Links(alone, aloneIn), devices, new Start(RankResources.NOTHING, false, 0),
                data,
                new Recovery(Optional.of(kept), new CopyRoutes(), false), checkpoints, Optional.empty(), new Pauses(),
                FaultInjector.NONE);
    }
}
