package dev.troupe.rank.bits;

import dev.troupe.engine.digest.BitHash;
import java.util.List;
import java.util.Optional;

/**
 * The digests of all ranks in a step.
 *
 * @param values the digests by the layout's places; {@link RankBits#NONE} if nothing was recorded
 */
public record StepBits(long step, BitLayout layout, long[] values) {
    /** Returns the first output, in the order of dependence, that contains a number that is not finite. */
    public Optional<BitKey> firstNotFinite() {
        List<BitKey> keys = layout.keys();
        BitKey first = null;
        for (int place = 0; place < values.length; place++) {
            if (!BitHash.isFinite(values[place]) && (first == null
                    || StepOrder.BY_DEPENDENCE.compare(keys.get(place), first) < 0)) {
                first = keys.get(place);
            }
        }
        return Optional.ofNullable(first);
    }
}
