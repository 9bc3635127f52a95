package dev.troupe.plan.memory;

import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.IndexRange;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.protocol.Pass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The memory of a run, known before it starts. The rows of ranks are walked with the same stages that will run them, on an
 * engine that counts bytes and holds none. It does not include the other memory of an engine's libraries, or the JVM's heap.
 */
public record MemoryPlan(List<RankMemory> ranks) {
    public MemoryPlan {
        ranks = List.copyOf(ranks);
    }

    /**
     * Walks the plan.
     *
     * @param engine an engine like the ranks', for its sizes
     * @param measuresValidation whether the run has validation passes
     * @param snapshots the number of states that ranks keep to restart inside a step; 0: none
     * @param copied the ranks with copies of their snapshots on another machine
     * @throws UsageException if a tensor of the run is larger than any engine supports
     */
    public static MemoryPlan of(TrainingPlan plan, Engine engine, boolean measuresValidation, int snapshots,
            List<Integer> copied) {
        Walks walks = new Walks(plan, engine, snapshots, walk -> {
            walk.over(Pass.Kind.TRAINING);
            if (measuresValidation) {
                walk.over(Pass.Kind.VALIDATION);
            }
        });
        Set<Integer> isCopied = Set.copyOf(copied);
        List<RankMemory> ranks = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            RankMemory memory = walks.of(rank);
            ranks.add(isCopied.contains(rank) ? memory : memory.atHome());
        }
        return new MemoryPlan(ranks);
    }

    /** The walks of ranks. Ranks of one place with shares of one size need the same memory, so one of them is walked. */
    private static final class Walks {
        private final TrainingPlan plan;
        private final Engine engine;
        private final int snapshots;
        private final Consumer<MemoryWalk> rows;
        private final Map<Share, RankMemory> walked = new HashMap<>();
        private final Map<Share, Long> kept = new HashMap<>();

        /**
         * The key of a walk: a tensor group shares the vocabulary unevenly, and the offsets of parameters determine the cut
         * of snapshots.
         */
        private record Share(int place, int tokens, int dataRank) {
        }

        Walks(TrainingPlan plan, Engine engine, int snapshots, Consumer<MemoryWalk> rows) {
            this.plan = plan;
            this.engine = engine;
            this.snapshots = snapshots;
            this.rows = rows;
        }

        public RankMemory of(int rank) {
            Coordinates at = plan.ranks().coordinates(rank);
            int tokens = IndexRange.share(plan.model().size(Axis.VOCABULARY), at.tensor(), plan.ranks().tensor())
                    .size();
            // Ranks that divide gradients have unequal parts of the gradients that a tensor group adds up.
            int dataRank = plan.zero().includes(Zero.GRADIENTS) && plan.ranks().tensor() > 1 ? at.data() : 0;
            RankMemory memory = walked.computeIfAbsent(new Share(plan.ranks().replicas().isEmpty()
                    ? at.pipeline()
                    : rank, tokens, dataRank), _ -> walk(rank)).as(rank); // replicas have edges of their own
            if (snapshots == 0 || plan.zero() == Zero.NONE) {
                return memory;
            }
            return memory.keeping(kept.computeIfAbsent(new Share(at.pipeline(), tokens, at.data()), _ -> kept(rank)),
                    snapshots);
        }

        private RankMemory walk(int rank) {
            try (MemoryWalk walk = new MemoryWalk(plan, rank, engine, snapshots)) {
                rows.accept(walk);
                return walk.result();
            }
        }

        private long kept(int rank) {
            try (MemoryWalk walk = new MemoryWalk(plan, rank, engine, snapshots)) {
                return walk.keptBytes();
            }
        }
    }

    /**
     * Returns the memory on a machine.
     *
     * @param copied the ranks with copies of their snapshots on the machine
     */
    public MemoryPlan onMachine(List<Integer> hosted, List<Integer> copied) {
        return new MemoryPlan(Stream.concat(hosted.stream().map(ranks::get).map(RankMemory::atHome),
                copied.stream().map(ranks::get).map(RankMemory::elsewhere)).toList());
    }

    public long total() {
        return ranks.stream().mapToLong(RankMemory::total).sum();
    }

    public long largestAtHome() {
        return ranks.stream().map(RankMemory::atHome).mapToLong(RankMemory::total).max().orElse(0);
    }

    /**
     * Refuses ranks that do not fit.
     *
     * @param availableBytes the available memory of the machine that hosts these ranks
     * @throws UsageException if the ranks need more together
     */
    public void requireRoom(long availableBytes) {
        if (total() <= availableBytes) {
            return;
        }
        long activations = ranks.stream().mapToLong(rank -> rank.activations() + rank.boundary()).sum();
        String advice = activations > total() / 2
                ? "set training.recompute = full, lower training.microbatch-size or model.sequence-length, or take a"
                        + " schedule that holds fewer activations than parallel.schedule does"
                : "take a smaller model (model.hidden, model.layers), or training.optimizer.kind = sgd, which without"
                        + " momentum remembers nothing";
        throw new UsageException("the run would take " + text(total()) + " of memory (" + text(activations)
                + " of them for activations), but this machine has " + text(availableBytes) + " to give: " + advice);
    }

    public static String text(long bytes) {
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0)
                : String.format(Locale.ROOT, "%.2f GiB", bytes / 1073741824.0);
    }
}
