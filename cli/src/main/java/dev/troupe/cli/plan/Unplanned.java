package dev.troupe.cli.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.InvariantSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.plan.UsageException;

/** The settings of a run with which {@code plan} cannot price a layout, or would change what is trained. */
final class Unplanned {
    private Unplanned() {
    }

    static void refuse(RunSpec spec) {
        if (spec.parallel().expert() > 1) {
            throw new UsageException("parallel.expert = " + spec.parallel().expert()
                    + ", but plan searches layouts in which every rank has every expert: set it to 1");
        }
        spec.training().memory().offload().keyOfFiles().ifPresent(key -> {
            throw new UsageException(key + " = disk, but plan knows no time of files: set it to none");
        });
        if (spec.training().memory().replay().partition()) {
            throw new UsageException("training.recompute-partition = true, but plan knows no time of the gathers of"
                    + " inputs: set it to false");
        }
        if (spec.invariant().data()) {
            throw new UsageException(InvariantSpec.KEY + " = [data], but plan knows no cost of its sums: leave it out");
        }
        if (spec.parallel().sharding().isPlanned()) {
            throw new UsageException("parallel.sharding is given, but plan searches layouts in which every layer is"
                    + " divided: leave it out");
        }
        ReplicasSpec.Mode replicas = spec.training().update().replicas().mode();
        if (replicas != ReplicasSpec.Mode.NONE) {
            throw new UsageException("training.replicas.mode = " + replicas.word()
                    + ", but plan chooses parallel.data, which is then the number of models: set it to none");
        }
    }
}
