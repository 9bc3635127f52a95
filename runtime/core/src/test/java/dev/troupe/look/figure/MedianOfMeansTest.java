package dev.troupe.look.figure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class MedianOfMeansTest {
    @Test
    void shouldCountALateOneAndNotALateStep() {
        MedianOfMeans times = new MedianOfMeans();
        times.add(List.of(10L, 10L, 40L));
        times.add(List.of(5000L, 5000L));
        times.add(List.of(12L));
        assertEquals(20, times.nanos());
    }

    @Test
    void shouldNotCountAStepInWhichNothingWasMeasured() {
        MedianOfMeans times = new MedianOfMeans();
        times.add(List.of());
        assertTrue(times.isEmpty());
        times.add(List.of(7L));
        assertEquals(7, times.nanos());
    }
}
