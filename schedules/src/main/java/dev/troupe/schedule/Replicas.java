package dev.troupe.schedule;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The placement of each stage on R ranks, its replicas: microbatch k is on replica k mod R. Ranks are numbered stage by
 * stage. With R = 2, 1: stage 0 on ranks 0 and 1, stage 1 on rank 2.
 *
 * <p>Source: Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, 2019, section 3.2 (1F1B-RR).
 *
 * @param counts the number of ranks of each stage, R
 */
public record Replicas(List<Integer> counts) implements Placement {
    public Replicas {
        if (counts.isEmpty() || counts.stream().anyMatch(count -> count < 1)) {
            throw new PlanException("Each stage has 1 replica or more, but found " + counts + ".");
        }
        counts = List.copyOf(counts);
    }

    @Override
    public int rankOf(int stage, int microbatch, int rankCount) {
        return ranksBefore(stage) + microbatch % counts.get(stage);
    }

    @Override
    public int replicas(int stage) {
        return counts.get(stage);
    }

    public int ranksBefore(int stage) {
        return counts.subList(0, stage).stream().mapToInt(Integer::intValue).sum();
    }

    public int rankCount() {
        return ranksBefore(counts.size());
    }

    /** Returns the fewest microbatches after which every stage has completed a round over its replicas. */
    public int round() {
        return counts.stream().mapToInt(Integer::intValue).reduce(1, (all, one) -> all / gcd(all, one) * one);
    }

    private static int gcd(int left, int right) {
        return right == 0 ? left : gcd(right, left % right);
    }

    /** Returns the counts, such as {@code 2-1}. */
    @Override
    public String toString() {
        return IntStream.range(0, counts.size()).mapToObj(stage -> counts.get(stage).toString())
                .collect(Collectors.joining("-"));
    }
}
