package dev.troupe.rank.bits;

import dev.troupe.rank.bits.BitKey.What;
import java.util.Comparator;

/** An order of the outputs of a step in which each output follows its inputs. */
public final class StepOrder {
    /** The order: forwards from the first layer, backwards from the last, gradients of weights, weights. */
    public static final Comparator<BitKey> BY_DEPENDENCE = Comparator.comparingInt(StepOrder::part)
            .thenComparingLong(StepOrder::depth).thenComparingInt(BitKey::microbatch)
            .thenComparing(BitKey::tensor).thenComparingInt(BitKey::data).thenComparingInt(BitKey::tensorRank);

    private StepOrder() {
    }

    private static int part(BitKey key) {
        return switch (key.what()) {
            case RECEIVED_ACTIVATION, ACTIVATION -> 0;
            case RECEIVED_GRADIENT, GRADIENT -> 1;
            case WEIGHT_GRADIENT -> 2;
            case WEIGHT -> 3;
        };
    }

    /** A received tensor comes between the outputs of two layers. */
    private static long depth(BitKey key) {
        boolean isReceived = key.what() == What.RECEIVED_ACTIVATION || key.what() == What.RECEIVED_GRADIENT;
        boolean isBackward = key.what() == What.GRADIENT || key.what() == What.RECEIVED_GRADIENT;
        return 2L * (isBackward ? -key.layer() : key.layer()) - (isReceived ? 1 : 0);
    }
}
