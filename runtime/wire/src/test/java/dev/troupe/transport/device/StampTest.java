package dev.troupe.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The ring and the position in the reserved value of a frame, however many bytes a run has sent. */
@Tag("plan")
class StampTest {
    private static final long CAPACITY = 16 << 20;

    @Test
    void shouldNameTheRingAndThePosition() {
        Random random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            int number = random.nextInt(Stamp.MOST_RINGS);
            long before = random.nextLong(1L << 58) / 64 * 64;
            long end = before + 64 + random.nextLong(CAPACITY) / 64 * 64;
            long stamp = Stamp.of(number, end);
            assertTrue(Stamp.isStamp(stamp));
            assertEquals(number, Stamp.number(stamp));
            assertEquals(end, Stamp.end(stamp, before));
        }
        assertEquals(Stamp.MOST_RINGS - 1, Stamp.number(Stamp.of(Stamp.MOST_RINGS - 1, 64)));
    }

    @Test
    void shouldReadAPositionFarBack() {
        long stamp = Stamp.of(3, 128);
        assertTrue(Stamp.end(stamp, 256) - 256 > CAPACITY, "it is no position that the ring can hold");
    }

    @Test
    void shouldNotBeAPositionOfARingOfTheHost() {
        assertFalse(Stamp.isStamp(0));
        assertFalse(Stamp.isStamp(Long.MAX_VALUE));
    }
}
