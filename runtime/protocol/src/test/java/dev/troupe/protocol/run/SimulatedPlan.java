package dev.troupe.protocol.run;

import dev.troupe.protocol.rank.RunPlan;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.certificate.Certificate;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The plan of a simulated run.
 *
 * @param grid
 *            the ranks of each place
 * @param tied
 *            whether the first and the last stage have a parameter in common
 */
record SimulatedPlan(Grid grid, boolean tied, Certificate training, Certificate validation) implements RunPlan {
    private static final int LAYERS_PER_STAGE = 2;

    @Override
    public int ranksPerPlace() {
        return grid.ranksPerPlace();
    }

    int stageCount() {
        return training.plan().stageCount();
    }

    /** Whether stages are on several ranks, of one pipeline. */
    boolean isReplicated() {
        return training.plan().placement() instanceof Replicas;
    }

    /** The ranks that hold the stage of a rank, where stages are on several ranks. */
    private List<Integer> replicas(int rank) {
        return training.plan().ranksOf(stagesOf(rank).getFirst());
    }

    /** The number of the pipeline of a rank among those side by side, or of a replica in its stage. */
    int dataOf(int rank) {
        return isReplicated() ? replicas(rank).indexOf(rank) : rank % ranksPerPlace() / grid.tensor(); // rounded down
    }

    /** The place of a rank among those that share its stages. */
    int tensorOf(int rank) {
        return rank % grid.tensor();
    }

    /** The ranks that share the stages of a rank. */
    List<Integer> tensorGroup(int rank) {
        return ranks(rank - tensorOf(rank), 1, grid.tensor());
    }

    /** The ranks that hold the same weights as a rank. */
    List<Integer> dataGroup(int rank) {
        return isReplicated() ? replicas(rank) : ranks(rank - dataOf(rank) * grid.tensor(), grid.tensor(), grid.data());
    }

    private static List<Integer> ranks(int first, int stride, int count) {
        return IntStream.range(0, count).mapToObj(member -> first + member * stride).toList();
    }

    /** The number in the whole step of a microbatch of one pipeline. */
    int microbatchInStep(int data, int microbatch) {
        return isReplicated() ? microbatch : data * training.plan().microbatchesPerStep() + microbatch;
    }

    /** A share of a stage with the weights that every run starts from. */
    SimulatedStage newStage(int stage, int tensor) {
        return new SimulatedStage(stage, tensor, stage * LAYERS_PER_STAGE, (stage + 1) * LAYERS_PER_STAGE - 1,
                training.weights().liveVersions().get(stage));
    }
}
