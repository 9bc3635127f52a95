package dev.troupe.plan.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.plan.UsageException;
import dev.troupe.sharding.ShardingCheck;
import dev.troupe.sharding.ShardingException;
import dev.troupe.sharding.ShardingPlan;
import dev.troupe.sharding.ShardingRules;
import java.util.Map;

/**
 * The sharding plan of a run, read and checked.
 *
 * @param plan the plan, also of a run that was given none
 * @param checked the division that layers execute, and what ranks send
 */
public record RunSharding(ShardingPlan plan, ShardingCheck.Result checked) {
    /**
     * Reads and checks the plan of a run.
     *
     * @throws UsageException with the line at fault
     */
    public static RunSharding of(RunSpec spec, ModelSpec model, int sequenceLength) {
        ParallelSpec parallel = spec.parallel();
        ReplicasSpec.Mode replicas = spec.training().update().replicas().mode();
        if (replicas != ReplicasSpec.Mode.NONE) {
            throw new UsageException("training.replicas.mode = " + replicas.word() + " trains a model for each"
                    + " data-parallel rank, but a sharding plan sums the gradients of all: leave one of them out");
        }
        try {
            ShardingPlan plan = parallel.sharding().isPlanned()
                    ? ShardingPlan.read(parallel.sharding().plan(), model)
                    : ShardingRules.standard(parallel.sequence()).plan(model);
            return new RunSharding(plan, ShardingCheck.of(model, plan,
                    new ShardingCheck.Mesh(parallel.tensor(), parallel.data(), parallel.expert()),
                    Math.multiplyExact(spec.training().microbatchSize(), sequenceLength)));
        } catch (ShardingException refused) {
            throw new UsageException("parallel.sharding: " + refused.getMessage(), refused);
        }
    }

    /** Returns what layers execute; without a plan every layer is divided. One rank alone executes no plan. */
    static StreamSharding executed(RunSpec spec, ModelSpec model, int sequenceLength) {
        ParallelSpec parallel = spec.parallel();
        if (!parallel.sharding().isPlanned()) {
            return StreamSharding.of(parallel.sequence());
        }
        StreamSharding planned = of(spec, model, sequenceLength).checked().sharding();
        return parallel.tensor() > 1 ? planned : StreamSharding.of(false);
    }

    /** Returns the request with the value of {@code parallel.sequence} that follows from its plan. */
    static RunRequest settled(RunRequest request, ModelSpec model, int sequenceLength) {
        RunSpec spec = request.spec();
        ParallelSpec parallel = spec.parallel();
        if (!parallel.sharding().isPlanned()) {
            return request;
        }
        StreamSharding sharding = executed(spec, model, sequenceLength);
        if (!sharding.wholeLayers().isEmpty() && spec.engine().kind().equals("emulated")) {
            throw new UsageException(
                    "parallel.sharding has layers that each rank computes whole, but the engine emulated"
                            + " has only the costs of divided ones: choose another engine.kind, or divide them");
        }
        if (parallel.sequence() && !sharding.cutsRows()) {
            throw new UsageException("parallel.sequence = true, but parallel.sharding leaves the rows of the residual"
                    + " stream whole: take one of them away");
        }
        return sharding.cutsRows() == parallel.sequence()
                ? request
                : request.with(spec.with(Map.of("parallel.sequence", true)));
    }
}
