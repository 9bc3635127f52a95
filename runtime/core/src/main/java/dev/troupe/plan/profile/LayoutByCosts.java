package dev.troupe.plan.profile;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.layer.drop.LayerDrop;
import dev.troupe.model.ModelSpec;
import dev.troupe.partition.LayerRange;
import dev.troupe.partition.Partition;
import dev.troupe.plan.DroppedHalves;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.search.Borders;
import dev.troupe.schedule.search.Candidate;
import dev.troupe.schedule.search.Machine;
import dev.troupe.schedule.search.PlanningProblem;
import dev.troupe.schedule.search.SimulatedPartition;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Hop;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The partition with the shortest simulated step by the costs of layers that {@code parallel.layout} gives or names. */
public final class LayoutByCosts {
    private LayoutByCosts() {
    }

    /**
     * Returns the expected costs of the layers, which microbatches may drop; empty if {@code parallel.layout} has none.
     *
     * @param setting the conditions of the run, which a profile must have too
     * @throws UsageException if the costs are wrong, or the profile is missing or of other conditions
     */
    public static Optional<List<Unit>> units(RunSpec spec, ModelSpec model, Supplier<ProfileSetting> setting) {
        return ofWholeLayers(spec, model, setting).map(units -> expected(units, spec.training(), model));
    }

    private static Optional<List<Unit>> ofWholeLayers(RunSpec spec, ModelSpec model,
            Supplier<ProfileSetting> setting) {
        Optional<Path> file = Profile.file(spec);
        if (file.isPresent()) {
            return Optional.of(Profile.read(file.get()).requireFor(setting.get(), file.get()).units());
        }
        String layout = spec.parallel().layout();
        return GivenCosts.isGiven(layout) ? Optional.of(GivenCosts.read(layout, model)) : Optional.empty();
    }

    /** Returns the costs times the mean probability over a run that a microbatch keeps the layer. */
    static List<Unit> expected(List<Unit> units, TrainingSpec training, ModelSpec model) {
        LayerDrop drop = DroppedHalves.of(training, model);
        return IntStream.range(0, units.size()).mapToObj(layer -> {
            Unit unit = units.get(layer);
            return !drop.drops() || !model.layers().get(layer).isHalf()
                    ? unit
                    : new Unit(unit.name(),
                            unit.cost().at(1 / drop.meanKeepProbability(training.steps(), model.blockNumber(layer))),
                            unit.residentBytes(), unit.activationBytes());
        }).toList();
    }

    /**
     * Returns the partition; its step is never longer than with {@code uniform}.
     *
     * @param units the costs of the layers, each in its place
     * @param compute a plan that only computes
     * @throws UsageException if there are more stages than layers
     */
    public static Partition of(ModelSpec model, List<Unit> units, Plan compute) {
        PlanningProblem problem = onEqualMachines(units, compute.rankCount(), Hop.FREE);
        Borders start = new Borders(start(model, compute.stageCount()).stages().stream().map(LayerRange::size)
                .toList());
        Borders best = new SimulatedPartition(problem).refine(new Candidate(compute, start)).borders();
        return partition(model, best);
    }

    /** Returns the partition of a model that is cut at borders. */
    public static Partition partition(ModelSpec model, Borders borders) {
        return new Partition(model, IntStream.range(0, borders.sizes().size()).mapToObj(stage -> new LayerRange(
                borders.first(stage), borders.first(stage) + borders.sizes().get(stage) - 1)).toList());
    }

    /** Returns the layers on machines of the same speed without a limit on memory, with the same way between any two. */
    public static PlanningProblem onEqualMachines(List<Unit> units, int machines, Hop hop) {
        return new PlanningProblem(units, Collections.nCopies(machines, Machine.unlimited()), (_, _) -> hop);
    }

    /** Stages may outnumber the blocks, since they may end inside a block. */
    private static Partition start(ModelSpec model, int stageCount) {
        try {
            return Partition.of(model, stageCount,
                    stageCount <= model.blockCount() + 2 ? Partition.UNIFORM : Partition.PARAMETERS);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("parallel.layout: " + refused.getMessage(), refused);
        }
    }
}
