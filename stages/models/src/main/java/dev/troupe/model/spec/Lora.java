package dev.troupe.model.spec;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Low-rank adapters of some matrices of a model (Hu et al. 2022): {@code y = x W^T + (alpha / r) (x A^T) B^T}, with only A
 * [r x inputs] and B [outputs x r] trained. Rank-stabilized ones (Kalajdzievski 2023) have the factor
 * {@code alpha / sqrt(r)}.
 *
 * @param rank r
 * @param alpha the factor of the adapters' output, divided by r or its root
 * @param isRankStabilized whether it is divided by the root of r
 * @param targets the matrices that have an adapter in each block, by the family's names; empty for the family's default
 * @param base identity of the frozen weights, to distinguish other weights of the same shape; empty if not known yet
 */
public record Lora(int rank, double alpha, boolean isRankStabilized, List<String> targets, String base) {
    /** The one target that means all matrices of a block. */
    public static final String ALL_LINEAR = "all-linear";
    /** The keys of a model's section for its adapters. */
    public static final Set<String> KEYS = Set.of("lora-rank", "lora-alpha", "lora-targets", "lora-base",
            "lora-rank-stabilized");

    private static final String STABILIZED = "lora-rank-stabilized";
    private static final String WEIGHT = ".weight";

    public Lora {
        if (rank < 1 || !(alpha > 0 && alpha < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "adapters must have a rank of at least 1 and an alpha above 0, but found "
                            + rank + " and " + alpha);
        }
        targets = List.copyOf(targets);
    }

    /** Creates adapters that are not rank-stabilized. */
    public Lora(int rank, double alpha, List<String> targets, String base) {
        this(rank, alpha, false, targets, base);
    }

    /** Returns the same adapters for these frozen weights. */
    public Lora on(String identity) {
        return new Lora(rank, alpha, isRankStabilized, targets, identity);
    }

    /** Returns the adapters of a section; empty if it has none. */
    public static Optional<Lora> of(Section section) {
        return section.has("lora-rank")
                ? Optional.of(new Lora(section.positive("lora-rank"), section.number("lora-alpha", 0),
                        section.has(STABILIZED) && section.flag(STABILIZED),
                        List.of(section.text("lora-targets").split(",")), section.text("lora-base")))
                : Optional.empty();
    }

    /**
     * Returns the values of {@link #KEYS}, without the flag of rank-stabilized adapters if it is false, as in older
     * checkpoints.
     */
    public Map<String, Object> values() {
        Map<String, Object> values = new HashMap<>(Map.of("lora-rank", rank, "lora-alpha", alpha, "lora-targets",
                String.join(",", targets), "lora-base", base));
        if (isRankStabilized) {
            values.put(STABILIZED, true);
        }
        return values;
    }

    public static String nameOfDown(String matrix) {
        return named(matrix, ".lora_A");
    }

    public static String nameOfUp(String matrix) {
        return named(matrix, ".lora_B");
    }

    private static String named(String matrix, String part) {
        if (!matrix.endsWith(WEIGHT)) {
            throw new IllegalArgumentException("the name of a matrix ends in " + WEIGHT + ", but found " + matrix);
        }
        return matrix.substring(0, matrix.length() - WEIGHT.length()) + part + WEIGHT;
    }

    /** Returns the end of a model's summary, on its adapters. */
    public String summary() {
        return (isRankStabilized ? ", rank-stabilized adapters of rank " : ", adapters of rank ") + rank + " on "
                + String.join(", ", targets);
    }

    public double scale() {
        return alpha / (isRankStabilized ? Math.sqrt(rank) : rank);
    }

    /**
     * Returns the same adapters with all targets named, in the order of the family. A target means every matrix with this
     * name, or a name that ends with it after a dot, as in PEFT.
     *
     * @param usual the default targets
     * @throws IllegalArgumentException if a target is none of them
     */
    public Lora among(List<String> all, List<String> usual, String title) {
        List<String> asked = targets.isEmpty() ? usual : targets.equals(List.of(ALL_LINEAR)) ? all : targets;
        for (String target : asked) {
            if (all.stream().noneMatch(matrix -> isNamed(target, matrix))) {
                throw new IllegalArgumentException(target + " is no matrix of a " + title
                        + " model that can have an adapter: name some of " + String.join(", ", all) + ", or "
                        + ALL_LINEAR);
            }
        }
        return new Lora(rank, alpha, isRankStabilized,
                all.stream().filter(matrix -> asked.stream().anyMatch(target -> isNamed(target, matrix))).toList(),
                base);
    }

    private static boolean isNamed(String target, String matrix) {
        return matrix.equals(target) || matrix.endsWith("." + target);
    }
}
