package dev.troupe.rank;

import dev.troupe.checkpoint.CheckpointStore;
import dev.troupe.collective.RankGroups;
import dev.troupe.batch.Batches;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.fault.FaultInjector;
import dev.troupe.observe.GradientDump;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.trace.Pauses;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightSource;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * What all ranks of a node share. Any thread may read it.
 *
 * @param plan
 *            what is to be done
 * @param transport
 *            carries tensors between ranks
 * @param groups
 *            the process groups that ranks are in
 * @param engines
 *            opens the engine of a rank, by its number
 * @param clocks
 *            gives a rank the clock beside its engine
 * @param weights
 *            the weights the run starts from
 * @param resumes
 *            whether they come with optimizer state
 * @param firstStep
 *            steps that lie behind with these weights
 * @param snapshots
 *            what ranks start again from after a failure; empty where a failure ends the run
 * @param copies
 *            sends what is kept to other nodes
 * @param batches
 *            what is trained on
 * @param validation
 *            what the validation loss is measured on, if anything
 * @param checkpoints
 *            where checkpoints go
 * @param gradientDump
 *            writes the gradients of one step, if that was asked for
 * @param pauses
 *            the times in which this process stood still
 * @param faults
 *            what is to go wrong on purpose
 * @param warmsUp
 *            whether a node without ranks warms up what it may take over
 */
public record NodeContext(TrainingPlan plan, Transport transport, RankGroups groups, IntFunction<Engine> engines,
        Supplier<WorkClock> clocks, WeightSource weights, boolean resumes, long firstStep,
        Optional<Snapshots> snapshots, CopyRoutes copies, Batches batches,
        Optional<ValidationBatches> validation, CheckpointStore checkpoints,
        Optional<GradientDump> gradientDump, Pauses pauses, FaultInjector faults,
        boolean warmsUp) {
    /** The same for ranks that warm up: nothing in it leads to another rank or to what the run has and writes. */
    NodeContext forWarmUp(Transport alone, RankGroups aloneIn, Snapshots kept) {
        return new NodeContext(plan, alone, aloneIn, engines, clocks, RankResources.NOTHING, false, 0,
                Optional.of(kept),
                new CopyRoutes(), batches, validation, checkpoints, Optional.empty(), new Pauses(),
                FaultInjector.NONE, false);
    }
}
