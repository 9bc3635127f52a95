package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.MessageKind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EpochBarrierTest {
    private static final MessageKey FIRST = new MessageKey(new Edge(0, 1, 1, MessageKind.ACTIVATION), 0);
    private static final MessageKey SECOND = new MessageKey(new Edge(0, 2, 2, MessageKind.ACTIVATION), 0);

    @Test
    void shouldBeCompleteWhenEveryRankIsReady() {
        EpochBarrier epochBarrier = begun();
        assertFalse(epochBarrier.ready(1, MessageKeys.of(List.of(FIRST))));
        assertTrue(epochBarrier.awaits(0));
        assertFalse(epochBarrier.ready(0, MessageKeys.of(List.of())));
        assertFalse(epochBarrier.isComplete());
        assertTrue(epochBarrier.ready(2, MessageKeys.of(List.of(SECOND))));
        assertTrue(epochBarrier.isComplete());
        assertEquals(Map.of(0, MessageKeys.of(List.of(FIRST, SECOND))), epochBarrier.received(),
                "by the rank that sent it");
    }

    @Test
    void shouldForgetReadyRanksWhenAnotherEpochBegins() {
        EpochBarrier epochBarrier = begun();
        epochBarrier.ready(1, MessageKeys.of(List.of(FIRST)));
        epochBarrier.begin(3);
        assertTrue(epochBarrier.awaits(1));
        assertEquals(Map.of(), epochBarrier.received());
    }

    @Test
    void shouldRefuseARankThatIsReadyTwice() {
        EpochBarrier epochBarrier = begun();
        epochBarrier.ready(1, MessageKeys.of(List.of()));
        assertThrows(IllegalStateException.class, () -> epochBarrier.ready(1, MessageKeys.of(List.of())));
    }

    private static EpochBarrier begun() {
        EpochBarrier epochBarrier = new EpochBarrier();
        epochBarrier.begin(3);
        return epochBarrier;
    }
}
