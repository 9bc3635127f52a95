package dev.troupe.rank.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.rank.bits.BitKey.What;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class StepOrderTest {
    private static BitKey output(What what, int microbatch, int layer) {
        return new BitKey(what, microbatch, layer, "", BitKey.NONE, 0);
    }

    private static BitKey tensor(What what, int layer, String name) {
        return new BitKey(what, BitKey.NONE, layer, name, 0, 0);
    }

    /** Layers 0 | 1 2 | 3; 1 and 2 are the halves of a block on the second of three stages. */
    @Test
    void shouldPutNothingBeforeWhatItIsComputedFrom() {
        List<BitKey> expected = List.of(output(What.ACTIVATION, 0, 0), output(What.ACTIVATION, 1, 0),
                output(What.RECEIVED_ACTIVATION, 0, 1), output(What.ACTIVATION, 0, 2),
                output(What.RECEIVED_ACTIVATION, 0, 3), output(What.ACTIVATION, 0, 3), output(What.GRADIENT, 0, 3),
                output(What.RECEIVED_GRADIENT, 0, 2), output(What.GRADIENT, 0, 1),
                output(What.RECEIVED_GRADIENT, 0, 0), tensor(What.WEIGHT_GRADIENT, 0, "table"),
                tensor(What.WEIGHT_GRADIENT, 1, "a"), tensor(What.WEIGHT_GRADIENT, 1, "b"),
                tensor(What.WEIGHT, 0, "table"), tensor(What.WEIGHT, 3, "head"));
        List<BitKey> found = new ArrayList<>(expected);
        Collections.shuffle(found, new Random(7));
        found.sort(StepOrder.BY_DEPENDENCE);
        assertEquals(expected, found);
    }
}
