package dev.troupe.run;

import dev.troupe.engine.Engine;
import dev.troupe.model.Partition;
import dev.troupe.schedule.certificate.Edge;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a run takes in memory, known before it starts: each rank's row is walked with the very stages that will run it, on
 * an engine that counts bytes and holds none. What an engine's libraries take beside tensors is not in it, and neither is
 * the JVM's own heap.
 *
 * @param ranks
 *            by number
 */
public record MemoryPlan(List<RankMemory> ranks) {
    /** So many that a buffer of them can still be aligned. */
    private static final long MOST_WEIGHTS = 2_000_000_000;

    public MemoryPlan {
        ranks = List.copyOf(ranks);
    }

    /**
     * Walks the plan.
     *
     * @param engine
     *            an engine as the ranks will have, for the sizes of what it keeps
     * @param measuresHeldOut
     *            whether the run makes passes over held-out data
     * @param snapshots
     *            how often ranks keep what they need to start again inside a step; 0 where they do not
     * @param copied
     *            the ranks of which another machine has copies of that
     */
    static MemoryPlan of(TrainingPlan plan, Engine engine, boolean measuresHeldOut, int snapshots,
            List<Integer> copied) {
        requireStagesThatCanBe(plan);
        // How many messages of an edge can be sent and not received if no credit ever holds one up: so many may wait at
        // their sender, since a send does not wait.
        Map<Edge, Integer> unreceived = PlanValidator
                .certify(plan.training().plan(), Purpose.TRAINING, Integer.MAX_VALUE).messagesInFlight();
        Map<Edge, Integer> heldOutUnreceived = PlanValidator
                .certify(plan.heldOut().plan(), Purpose.FORWARD_ONLY, Integer.MAX_VALUE).messagesInFlight();
        List<RankMemory> ranks = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            try (MemoryWalk walk = new MemoryWalk(plan, rank, engine, snapshots, copied.contains(rank))) {
                walk.over(plan.training(), unreceived);
                if (measuresHeldOut) {
                    walk.over(plan.heldOut(), heldOutUnreceived);
                }
                ranks.add(walk.result());
            }
        }
        return new MemoryPlan(ranks);
    }

    /** A stage holds its weights in one buffer, whose elements a number of 32 bits counts. */
    private static void requireStagesThatCanBe(TrainingPlan plan) {
        Partition partition = plan.partition();
        for (int stage = 0; stage < partition.stageCount(); stage++) {
            long weights = partition.layers(stage).numbers().mapToLong(plan.model()::parameterCount).sum();
            if (weights > MOST_WEIGHTS) {
                throw new RequestException(String.format(Locale.ROOT,
                        "stage %d of %d would have %,d weights, and a stage has at most %,d: take more stages"
                                + " (parallel.pipeline, parallel.virtual-stages) or a smaller model",
                        stage, partition.stageCount(), weights, MOST_WEIGHTS));
            }
        }
    }

    /**
     * What a machine has of it.
     *
     * @param hosted
     *            the ranks that are there
     * @param copied
     *            the ranks of whose snapshots it has copies
     */
    MemoryPlan onMachine(List<Integer> hosted, List<Integer> copied) {
        return new MemoryPlan(Stream.concat(hosted.stream().map(ranks::get).map(RankMemory::atHome),
                copied.stream().map(ranks::get).map(RankMemory::elsewhere)).toList());
    }

    /** Bytes of all ranks. */
    public long total() {
        return ranks.stream().mapToLong(RankMemory::total).sum();
    }

    /** Bytes that a node needs to have the largest rank. */
    long largestAtHome() {
        return ranks.stream().map(RankMemory::atHome).mapToLong(RankMemory::total).max().orElse(0);
    }

    /**
     * Refuses what cannot fit.
     *
     * @param availableBytes
     *            what the machine that hosts these ranks has to give
     * @throws RequestException
     *             where that is less than the ranks take together
     */
    void requireRoom(long availableBytes) {
        if (total() <= availableBytes) {
            return;
        }
        long activations = ranks.stream().mapToLong(rank -> rank.activations() + rank.boundary()).sum();
        String advice = activations > total() / 2
                ? "set training.recompute = full, lower training.microbatch-size or model.sequence-length, or take a"
                        + " schedule that holds fewer activations than parallel.schedule does"
                : "take a smaller model (model.hidden, model.layers), or training.optimizer.kind = sgd, which remembers"
                        + " nothing";
        throw new RequestException("the run would take " + text(total()) + " of memory (" + text(activations)
                + " of them for activations), but this machine has " + text(availableBytes) + " to give: " + advice);
    }

    /** Bytes in words. */
    public static String text(long bytes) {
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0)
                : String.format(Locale.ROOT, "%.2f GiB", bytes / 1073741824.0);
    }
}
