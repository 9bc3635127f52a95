package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The repetition of forwards if {@code training.recompute} is {@code full}.
 *
 * @param every blocks from one kept input to the next
 * @param aheadBlocks maximum number of blocks of a stage that are computed again before their gradient arrives;
 *     {@link Integer#MAX_VALUE} for all
 * @param aheadBytes the additional memory of a rank for them
 * @param partition whether the ranks of a tensor-parallel group divide the kept inputs
 */
public record ReplaySpec(int every, int aheadBlocks, long aheadBytes, boolean partition) {
    private static final String RECOMPUTE = "training.recompute";
    private static final String EVERY = "training.recompute-every";
    private static final String AHEAD = "training.recompute-ahead";
    private static final String PARTITION = "training.recompute-partition";
    private static final int MOST_BLOCKS = 1 << 16;
    // Below 2^63 bytes in any unit.
    private static final Pattern AHEAD_VALUE = Pattern
            .compile("none|all|\\d{1,5}|(\\d{1,18}(?= ?B)|\\d{1,8}(?= ?[KMG]iB)) ?(B|KiB|MiB|GiB)");

    static ReplaySpec read(Values values, MemorySpec.Recompute recompute) {
        int every = values.integer(EVERY, 1, MOST_BLOCKS);
        String ahead = values.text(AHEAD, AHEAD_VALUE, "none, all, a number of blocks, or memory such as 512MiB");
        boolean partition = values.flag(PARTITION);
        if (recompute != MemorySpec.Recompute.FULL && values.sound(RECOMPUTE, EVERY, AHEAD, PARTITION)) {
            String change = "set " + RECOMPUTE + " to full, or take this key away";
            if (every > 1) {
                values.report(EVERY, "1 with " + RECOMPUTE + " = " + recompute.word(), "" + every, change);
            }
            if (!ahead.equals("none")) {
                values.report(AHEAD, "none with " + RECOMPUTE + " = " + recompute.word(), ahead, change);
            }
            if (partition) {
                values.report(PARTITION, "false with " + RECOMPUTE + " = " + recompute.word(), "true", change);
            }
        }
        ReplaySpec spec = of(every, ahead, partition);
        values.settle(AHEAD, spec.ahead());
        return spec;
    }

    private static ReplaySpec of(int every, String ahead, boolean partition) {
        Matcher parts = AHEAD_VALUE.matcher(ahead);
        if (parts.matches() && parts.group(1) != null) {
            int shift = switch (parts.group(2)) {
                case "KiB" -> 10;
                case "MiB" -> 20;
                case "GiB" -> 30;
                default -> 0;
            };
            return new ReplaySpec(every, Integer.MAX_VALUE, Long.parseLong(parts.group(1)) << shift, partition);
        }
        return new ReplaySpec(every, switch (ahead) {
            case "none" -> 0;
            case "all" -> Integer.MAX_VALUE;
            default -> Integer.parseInt(ahead);
        }, Long.MAX_VALUE, partition);
    }

    private String ahead() {
        if (aheadBytes < Long.MAX_VALUE) {
            return aheadBytes + "B";
        }
        return switch (aheadBlocks) {
            case 0 -> "none";
            case Integer.MAX_VALUE -> "all";
            default -> Integer.toString(aheadBlocks);
        };
    }
}
