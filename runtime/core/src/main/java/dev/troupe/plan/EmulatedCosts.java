package dev.troupe.plan;

import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.LayerRange;
import dev.troupe.partition.Partition;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.ReplayGroups;
import dev.troupe.stage.StageSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The costs of the engine that computes nothing. They are the times of the configuration, or the operations of the model's
 * layers at the rate of a device (see {@link LayerCosts}), divided by its speed. The backward for the input includes the
 * replayed forwards; those that are replayed ahead of it are a separate cost. The last product of a group of blocks is not
 * replayed.
 */
public final class EmulatedCosts implements WorkCosts {
    private final Map<Work, long[]> nanos = new EnumMap<>(Work.class);
    private final ModelSpec model;
    private final StageSettings settings;
    private final List<StageWork> works = new ArrayList<>();

    /**
     * The operations of a stage for a microbatch: {@code again} of them are replayed, {@code ahead} of these before the
     * gradient arrives.
     */
    private record Operations(double products, double attention, double weights, double again, double ahead) {
        double of(Work work) {
            return switch (work) {
                case FORWARD -> products + attention;
                case BACKWARD_INPUT -> products + 2 * attention + again - ahead;
                case BACKWARD_WEIGHT -> weights;
                case BACKWARD -> of(Work.BACKWARD_INPUT) + weights;
                case RECOMPUTE -> ahead;
                case UPDATE -> 0;
            };
        }

        Operations replaying(boolean any, boolean early) {
            return new Operations(products, attention, weights, any ? again : 0, any && early ? ahead : 0);
        }
    }

    /** The layers of a stage, and whether it replays some of them ahead of its backwards. */
    private record StageWork(LayerRange range, ReplayGroups groups, boolean replaysAhead) {
    }

    /**
     * @param replaysAhead whether a stage's row has replays ahead of its backwards
     * @throws UsageException if a list has neither one time nor one for each stage
     */
    public EmulatedCosts(EmulatedSpec spec, Partition partition, StageSettings settings, IntPredicate replaysAhead) {
        int stageCount = partition.stageCount();
        this.model = partition.model();
        this.settings = settings;
        nanos.put(Work.FORWARD, configured("forward", spec.forward(), stageCount, spec.speed()));
        nanos.put(Work.BACKWARD_INPUT,
                configured("backward-input", spec.backwardInput(), stageCount, spec.speed()));
        nanos.put(Work.BACKWARD_WEIGHT,
                configured("backward-weight", spec.backwardWeight(), stageCount, spec.speed()));
        nanos.put(Work.UPDATE, configured("update", spec.update(), stageCount, spec.speed()));
        long[] again = configured("recompute", spec.recompute(), stageCount, spec.speed());
        long[] ahead = new long[stageCount];
        for (int stage = 0; stage < stageCount; stage++) {
            List<LayerSpec> layers = partition.layers(stage).of(partition.model());
            ReplayGroups groups = ReplayGroups.ofSpecs(layers, settings.recompute(), settings.replay());
            works.add(new StageWork(partition.layers(stage), groups, replaysAhead.test(stage)));
            boolean isFull = settings.recompute() == Recompute.FULL;
            if (spec.deviceFlops() > 0) {
                Operations operations = operations(works.get(stage), _ -> true);
                nanos.get(Work.FORWARD)[stage] = at(spec, operations.products() + operations.attention());
                nanos.get(Work.BACKWARD_INPUT)[stage] = at(spec, operations.products() + 2 * operations.attention());
                nanos.get(Work.BACKWARD_WEIGHT)[stage] = at(spec, operations.weights());
                nanos.get(Work.UPDATE)[stage] = 0;
                again[stage] = isFull ? at(spec, operations.again()) : 0;
                ahead[stage] = isFull ? at(spec, operations.ahead()) : 0;
            } else {
                again[stage] = isFull ? again[stage] : 0;
                ahead[stage] = Math.round(again[stage] * groups.shareAhead());
            }
            ahead[stage] = replaysAhead.test(stage) ? ahead[stage] : 0;
            nanos.get(Work.BACKWARD_INPUT)[stage] += again[stage] - ahead[stage];
        }
        nanos.put(Work.RECOMPUTE, ahead);
        nanos.put(Work.BACKWARD, IntStream.range(0, stageCount)
                .mapToLong(stage -> nanos(stage, Work.BACKWARD_INPUT) + nanos(stage, Work.BACKWARD_WEIGHT)).toArray());
    }

    /** Returns the operations of the layers that are kept; numbers of layers are the model's. */
    private Operations operations(StageWork work, IntPredicate isKept) {
        double products = 0;
        double attention = 0;
        double weights = 0;
        double again = 0;
        double ahead = 0;
        double lastProduct = 0;
        int block = 0;
        for (int layer = work.range().first(); layer <= work.range().last(); layer++) {
            LayerSpec spec = model.layers().get(layer);
            boolean endsBlock = layer == work.range().last()
                    || model.blockNumber(layer + 1) != model.blockNumber(layer);
            if (isKept.test(layer)) {
                LayerCosts costs = spec.costs().of(settings.rows(), settings.sequenceLength());
                products += costs.products();
                attention += costs.attention();
                weights += spec.weightProducts(costs, settings.rows());
                again += costs.products() + costs.attention();
                ahead += work.groups().isAhead(block) ? costs.products() + costs.attention() : 0;
                lastProduct = costs.lastProduct();
            }
            if (endsBlock && block == work.groups().last(block)) {
                again -= lastProduct;
                ahead -= work.groups().isAhead(block) ? lastProduct : 0;
                lastProduct = 0;
            }
            block += endsBlock ? 1 : 0;
        }
        return new Operations(products, attention, weights, again, ahead);
    }

    /** The costs of a plan; the ranks of a tensor-parallel group have a device each, and divide the operations. */
    public static EmulatedCosts of(EmulatedSpec spec, TrainingPlan plan) {
        EmulatedSpec group = new EmulatedSpec(spec.forward(), spec.backwardInput(), spec.backwardWeight(),
                spec.recompute(), spec.update(), spec.deviceFlops() * plan.ranks().tensor(),
                spec.offloadBandwidth(), spec.speed());
        EmulatedCosts costs = new EmulatedCosts(group, plan.partition(), plan.stageSettings(),
                plan.training().plan().stagesThatReplay()::contains);
        if (spec.offloadBandwidth() > 0) {
            costs.offload(plan, spec.offloadBandwidth() * spec.speed());
        }
        return costs;
    }

    /** Lets a forward and a backward take at least the time in which kept inputs of float32 are written and read. */
    private void offloadInputs(TrainingPlan plan, double bytesPerSecond) {
        StageSettings settings = plan.stageSettings();
        if (settings.recompute() != Recompute.FULL || settings.replay().store().isEmpty()) {
            return;
        }
        boolean divides = plan.sharding().cutsRows() || settings.replay().partition();
        double input = (double) settings.rows() * plan.model().size(Axis.HIDDEN) * Float.BYTES
                / (divides ? plan.ranks().tensor() : 1);
        for (int stage = 0; stage < plan.partition().stageCount(); stage++) {
            int kept = ReplayGroups.ofSpecs(plan.partition().layers(stage).of(plan.model()), Recompute.FULL,
                    settings.replay()).keptInputs();
            long least = Math.round(kept * input / bytesPerSecond * 1e9);
            for (Work work : List.of(Work.FORWARD, Work.BACKWARD_INPUT)) {
                nanos.get(work)[stage] = Math.max(nanos(stage, work), least);
            }
            nanos.get(Work.BACKWARD)[stage] = nanos(stage, Work.BACKWARD_INPUT) + nanos(stage, Work.BACKWARD_WEIGHT);
        }
    }

    /** Lets an update take at least the time in which stored moments of float32 are read and written. */
    private void offload(TrainingPlan plan, double bytesPerSecond) {
        offloadInputs(plan, bytesPerSecond);
        if (!(plan.stageSettings().optimizer() instanceof Optimizer.Stored(Optimizer.OfElements rule, StateStore _))) {
            return;
        }
        for (int stage = 0; stage < plan.partition().stageCount(); stage++) {
            double bytes = storedElements(plan, stage) * rule.moments().size() * Float.BYTES;
            nanos.get(Work.UPDATE)[stage] = Math.max(nanos(stage, Work.UPDATE),
                    Math.round(2 * bytes / bytesPerSecond * 1e9));
        }
    }

    /** Returns the trained weights of a stage that a rank updates; a group divides its experts, and others with ZeRO. */
    private static double storedElements(TrainingPlan plan, int stage) {
        int holders = plan.zero().includes(Zero.OPTIMIZER) ? plan.ranks().data() : 1;
        Map<String, Double> elements = new HashMap<>();
        for (LayerSpec layer : plan.partition().layers(stage).of(plan.model())) {
            for (ParameterSpec parameter : layer.parameters()) {
                boolean isOfExpert = parameter.shape().dimensions().stream()
                        .anyMatch(dimension -> dimension.axis() == Axis.EXPERT_INNER);
                int parts = isOfExpert ? Math.max(holders, plan.ranks().expert()) : holders;
                boolean isUpdated = parameter.isTrained() && !parameter.followsLoads();
                elements.put(parameter.name(), isUpdated ? (double) parameter.elementCount() / parts : 0);
            }
        }
        return elements.values().stream().mapToDouble(Double::doubleValue).sum() / plan.ranks().tensor();
    }

    /** Returns the model's own costs on a device of 10^9 operations per second. */
    public static EmulatedCosts ofOperations(TrainingPlan plan) {
        List<Duration> none = List.of(Duration.ZERO);
        return of(new EmulatedSpec(none, none, none, none, none, 1e9), plan);
    }

    private static long[] configured(String work, List<Duration> times, int stageCount, double speed) {
        if (times.size() != 1 && times.size() != stageCount) {
            throw new UsageException(
                    "engine.emulated." + work + " needs one time, or one for each of the " + stageCount
                            + " stages, but has " + times.size());
        }
        long[] nanos = new long[stageCount];
        for (int stage = 0; stage < stageCount; stage++) {
            nanos[stage] = Math.round(times.get(times.size() == 1 ? 0 : stage).toNanos() / speed);
        }
        return nanos;
    }

    private static long at(EmulatedSpec spec, double flops) {
        return Math.round(flops / (spec.deviceFlops() * spec.speed()) * 1e9);
    }

    @Override
    public long nanos(int stage, Work work) {
        return nanos.get(work)[stage];
    }

    /** An action takes the share that operations of kept halves have among all operations of its kind. */
    @Override
    public long nanos(int stage, Work work, long step, int microbatch) {
        DropoutSettings dropout = settings.dropout();
        if (!dropout.layers().drops()) {
            return nanos(stage, work);
        }
        DropoutKey key = dropout.keyOf(step, microbatch, settings.sequenceLength(), settings.sequenceLength());
        StageWork all = works.get(stage);
        boolean isFull = settings.recompute() == Recompute.FULL;
        double whole = operations(all, _ -> true).replaying(isFull, all.replaysAhead()).of(work);
        double kept = operations(all, layer -> isKept(key, layer)).replaying(isFull, all.replaysAhead()).of(work);
        return whole == 0 ? nanos(stage, work) : Math.round(nanos(stage, work) * (kept / whole));
    }

    private boolean isKept(DropoutKey key, int layer) {
        boolean isHalf = model.layers().get(layer).isHalf();
        int block = model.blockNumber(layer);
        return !isHalf || key.ofHalf(block, model.blockNumber(layer - 1) == block
                ? DropoutKey.Site.MLP_OUTPUT
                : DropoutKey.Site.ATTENTION_OUTPUT) != 0;
    }
}
