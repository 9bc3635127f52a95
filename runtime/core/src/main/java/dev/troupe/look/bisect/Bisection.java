package dev.troupe.look.bisect;

import dev.troupe.plan.UsageException;
import dev.troupe.rank.bits.BitKey;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.bits.StepOrder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The result of a comparison of the digests of two runs.
 *
 * @param first the first step of both runs
 * @param last the last compared step
 * @param outputs number of the outputs of a step that both runs have
 * @param parting the first difference; empty if there is none
 */
public record Bisection(long first, long last, int steps, int outputs, Optional<Parting> parting) {
    private static final String NOT_RECORDED = "not recorded";

    /**
     * The first output, in the order of dependence, that differs.
     *
     * @param stage the stage of the layer in the first run
     * @param left the digest in the first run
     * @param right the digest in the second run
     */
    public record Parting(long step, BitKey key, String layerName, int stage, long left, long right) {
    }

    /** An output that both runs have, and its places. */
    private record Common(BitKey key, int left, int right) {
    }

    /**
     * Compares two runs over their common steps.
     *
     * @throws UsageException if they cannot be compared
     */
    public static Bisection of(RecordedBits left, RecordedBits right) {
        NavigableSet<Long> steps = new TreeSet<>(left.steps());
        steps.retainAll(right.steps());
        if (steps.isEmpty()) {
            requireSameFacts(left, right);
            throw new UsageException("the runs have no step in common: " + left.run() + " has digests of "
                    + words(left.steps()) + ", " + right.run() + " of " + words(right.steps()));
        }
        return of(left, right, steps);
    }

    static Bisection of(RecordedBits left, RecordedBits right, NavigableSet<Long> steps) {
        requireSameFacts(left, right);
        List<Common> common = common(left, right);
        int compared = 0;
        for (long step : steps) {
            compared++;
            Optional<Parting> parting = parting(left, right, step, common);
            if (parting.isPresent()) {
                return new Bisection(steps.first(), step, compared, common.size(), parting);
            }
        }
        return new Bisection(steps.first(), steps.last(), compared, common.size(), Optional.empty());
    }

    private static void requireSameFacts(RecordedBits left, RecordedBits right) {
        Map<String, String> ofLeft = left.facts();
        Map<String, String> ofRight = right.facts();
        Set<String> names = new LinkedHashSet<>(ofLeft.keySet());
        names.addAll(ofRight.keySet());
        for (String name : names) {
            String one = ofLeft.getOrDefault(name, NOT_RECORDED);
            String other = ofRight.getOrDefault(name, NOT_RECORDED);
            if (!one.equals(other)) {
                throw new UsageException("the runs cannot be compared: " + name + " is " + one
                        + " in " + left.run() + ", but " + other + " in " + right.run()
                        + "; docs/determinism.md names runs with the same bits");
            }
        }
    }

    private static List<Common> common(RecordedBits left, RecordedBits right) {
        List<Common> common = new ArrayList<>();
        left.places().forEach((key, place) -> {
            Integer other = right.places().get(key);
            if (other != null) {
                common.add(new Common(key, place, other));
            }
        });
        if (common.isEmpty()) {
            throw new UsageException("the runs in " + left.run() + " and " + right.run()
                    + " have no output in common that is digested in both");
        }
        common.sort((one, other) -> StepOrder.BY_DEPENDENCE.compare(one.key(), other.key()));
        return common;
    }

    private static Optional<Parting> parting(RecordedBits left, RecordedBits right, long step, List<Common> common) {
        long[] ofLeft = left.values(step);
        long[] ofRight = right.values(step);
        for (Common output : common) {
            long one = ofLeft[output.left()];
            long other = ofRight[output.right()];
            if (one != other && one != RankBits.NONE && other != RankBits.NONE) {
                BitKey key = output.key();
                return Optional.of(new Parting(step, key, left.layerName(key.layer()), left.stageOf(key.layer()), one,
                        other));
            }
        }
        return Optional.empty();
    }

    private static String words(NavigableSet<Long> steps) {
        return steps.isEmpty() ? "no step" : "the steps " + steps.first() + " to " + steps.last();
    }
}
