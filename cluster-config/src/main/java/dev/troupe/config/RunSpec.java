package dev.troupe.config;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.ObserveSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.RecoverySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A whole run, validated: made once by {@link RunSpecReader} and shared freely after that. Immutable.
 *
 * @param name name of the run; letters, digits, '.', '_' and '-'
 * @param model the model to train, described or loaded
 * @param data the training data
 * @param training the settings of training
 * @param parallel the division of the work over ranks
 * @param engine the engine
 * @param transport how activations and gradients travel
 * @param recovery recovery from the failure of a rank
 * @param observe how the run can be watched
 * @param cluster the nodes that hold the ranks; empty: all ranks in one JVM
 * @param faults the faults to inject; usually none
 */
public record RunSpec(String name, ModelSection model, DataSpec data, TrainingSpec training, ParallelSpec parallel,
        EngineSpec engine, TransportSpec transport, RecoverySpec recovery, ObserveSpec observe,
        Optional<ClusterSpec> cluster, List<FaultSpec> faults) {

    /**
     * Refuses components that no reader accepts: a missing section, a batch that its microbatches do not divide, a
     * cluster for another world size.
     */
    public RunSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(training, "training");
        Objects.requireNonNull(parallel, "parallel");
        Objects.requireNonNull(engine, "engine");
        Objects.requireNonNull(transport, "transport");
        Objects.requireNonNull(recovery, "recovery");
        Objects.requireNonNull(observe, "observe");
        faults = List.copyOf(faults);
        long sequencesPerMicrobatch = (long) parallel.data() * training.microbatchSize();
        if (training.globalBatchSize() % sequencesPerMicrobatch != 0) {
            throw new IllegalArgumentException("a global batch of " + training.globalBatchSize()
                    + " does not divide by data x microbatch size = " + sequencesPerMicrobatch);
        }
        cluster.ifPresent(nodes -> parallel.ranks().requireFilledBy(nodes.nodeOfRank().size()));
    }

    /** Returns the same run with the engine of a node. */
    public RunSpec on(EngineSpec other) {
        return new RunSpec(name, model, data, training, parallel, other, transport, recovery, observe, cluster, faults);
    }

    /** Returns the same run with other faults. */
    public RunSpec with(List<FaultSpec> others) {
        return new RunSpec(name, model, data, training, parallel, engine, transport, recovery, observe, cluster,
                others);
    }

    /** Returns the same run with none of its data for validation. */
    public RunSpec onAllData() {
        return new RunSpec(name, model, data.withoutValidation(), training, parallel, engine, transport, recovery,
                observe, cluster,
                faults);
    }

    /**
     * Returns the same run on one rank of one process, with as many threads as each rank has here.
     *
     * @param cores the processors that the ranks of this run divide among them where the engine is told no number of
     *     threads
     * @param schedule the schedule there
     */
    public RunSpec onOneRank(int cores, String schedule) {
        ParallelSpec one = new ParallelSpec(1, 1, 1, false, 1, schedule, "uniform", false, parallel.overlap());
        int threads = engine.threads() > 0 ? engine.threads() : Math.max(1, cores / parallel.worldSize());
        return new RunSpec(name, model, data, training.withoutExchange(), one,
                new EngineSpec(engine.kind(), threads, engine.device(), engine.products(), engine.emulated()),
                transport, recovery,
                ObserveSpec.NONE,
                Optional.empty(),
                List.of());
    }

    /** Returns M, the microbatches per step of each pipeline: global batch / (data x microbatch size), exactly. */
    public int microbatchCount() {
        return training.globalBatchSize() / (parallel.data() * training.microbatchSize());
    }

    /** Returns the run as a configuration file, every value written out; reading it gives an equal run. */
    public String toHocon() {
        return RunSpecWriter.write(this);
    }
}
