package dev.troupe.protocol.run;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.protocol.rank.RankRow;
import dev.troupe.protocol.rank.RunPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.certificate.Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The plan of a simulated run. Its consequences for each rank are found once, since thousands of runs share one plan.
 *
 * <p>Thread rule: any thread.
 */
final class SimulatedPlan implements RunPlan {
    private static final int LAYERS_PER_STAGE = 2;

    private final Grid grid;
    private final boolean tied;
    private final Certificate training;
    private final Certificate validation;
    // By rank, and then by its stages.
    private final List<List<Integer>> stages;
    private final List<List<Integer>> dataGroups;
    private final List<List<Integer>> tensorGroups;
    private final List<Map<Pass.Kind, RankRow>> rows = new ArrayList<>();
    private final List<Map<Integer, Collection<Action>>> receives = new ArrayList<>();
    private final List<RankMessages> messages = new ArrayList<>();
    private final List<Map<Integer, Map<Action, Integer>>> updatesBehind = new ArrayList<>();
    // By stage.
    private final Set<Integer> stagesThatReplay;

    /**
     * @param grid the ranks of each place
     * @param tied whether the first and the last stage have a parameter in common
     */
    SimulatedPlan(Grid grid, boolean tied, Certificate training, Certificate validation) {
        this.grid = grid;
        this.tied = tied;
        this.training = training;
        this.validation = validation;
        this.stages = each(rankCount(), RunPlan.super::stagesOf);
        this.tensorGroups = each(rankCount(), rank -> ranks(rank - tensorOf(rank), 1, grid.tensor()));
        this.dataGroups = each(rankCount(), rank -> isReplicated()
                ? replicas(rank)
                : ranks(rank - dataOf(rank) * grid.tensor(), grid.tensor(), grid.data()));
        for (int rank = 0; rank < rankCount(); rank++) {
            int of = rank;
            rows.add(Map.of(Pass.Kind.TRAINING, RunPlan.super.row(Pass.Kind.TRAINING, rank), Pass.Kind.VALIDATION,
                    RunPlan.super.row(Pass.Kind.VALIDATION, rank)));
            receives.add(eachOf(stages.get(rank), stage -> List.copyOf(RunPlan.super.receivesOf(of, stage))));
            messages.add(RunPlan.super.messages(rank));
            updatesBehind.add(eachOf(stages.get(rank), stage -> RunPlan.super.updatesBehind(of, stage)));
        }
        this.stagesThatReplay = training.plan().stagesThatReplay();
    }

    private static <T> List<T> each(int count, IntFunction<T> of) {
        return IntStream.range(0, count).mapToObj(of).toList();
    }

    private static <T> Map<Integer, T> eachOf(List<Integer> keys, IntFunction<T> of) {
        return keys.stream().collect(Collectors.toMap(key -> key, of::apply));
    }

    Grid grid() {
        return grid;
    }

    boolean tied() {
        return tied;
    }

    @Override
    public Certificate training() {
        return training;
    }

    @Override
    public Certificate validation() {
        return validation;
    }

    @Override
    public int ranksPerPlace() {
        return grid.ranksPerPlace();
    }

    @Override
    public List<Integer> stagesOf(int rank) {
        return stages.get(rank);
    }

    @Override
    public RankRow row(Pass.Kind kind, int rank) {
        return rows.get(rank).get(kind);
    }

    @Override
    public Collection<Action> receivesOf(int rank, int stage) {
        return receives.get(rank).get(stage);
    }

    @Override
    public RankMessages messages(int rank) {
        return messages.get(rank);
    }

    @Override
    public Map<Action, Integer> updatesBehind(int rank, int stage) {
        return updatesBehind.get(rank).get(stage);
    }

    boolean replaysAhead(int stage) {
        return stagesThatReplay.contains(stage);
    }

    int stageCount() {
        return training.plan().stageCount();
    }

    /** Returns whether stages are on several ranks, of one pipeline. */
    boolean isReplicated() {
        return training.plan().placement() instanceof Replicas;
    }

    /** Returns the ranks that hold the stage of a rank, if stages are on several ranks. */
    private List<Integer> replicas(int rank) {
        return training.plan().ranksOf(stagesOf(rank).getFirst());
    }

    /** Returns the number of a rank's pipeline among the parallel ones, or of a replica in its stage. */
    int dataOf(int rank) {
        return isReplicated() ? replicas(rank).indexOf(rank) : rank % ranksPerPlace() / grid.tensor(); // rounded down
    }

    /** Returns the place of a rank among those that share its stages. */
    int tensorOf(int rank) {
        return rank % grid.tensor();
    }

    List<Integer> tensorGroup(int rank) {
        return tensorGroups.get(rank);
    }

    List<Integer> dataGroup(int rank) {
        return dataGroups.get(rank);
    }

    private static List<Integer> ranks(int first, int stride, int count) {
        return each(count, member -> first + member * stride);
    }

    /** The number in the whole step of a microbatch of one pipeline. */
    int globalMicrobatch(int data, int microbatch) {
        return isReplicated() ? microbatch : data * training.plan().microbatchesPerStep() + microbatch;
    }

    /** Returns a share of a stage with the initial weights of every run. */
    SimulatedStage newStage(int stage, int tensor) {
        return new SimulatedStage(stage, tensor, stage * LAYERS_PER_STAGE, (stage + 1) * LAYERS_PER_STAGE - 1,
                training.weights().liveVersions().get(stage));
    }
}
