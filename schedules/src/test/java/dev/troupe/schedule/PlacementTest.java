package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PlacementTest {
    @Test
    void shouldLoopOverTheRanks() {
        assertEquals(List.of(0, 1, 2, 0, 1, 2, 0, 1, 2), ranks(Laps.LOOP));
        assertEquals(List.of(1, 4, 7), Laps.LOOP.stagesOf(1, 3, 9));
    }

    @Test
    void shouldGoThereAndBack() {
        assertEquals(List.of(0, 1, 2, 2, 1, 0, 0, 1, 2), ranks(Laps.V));
        assertEquals(List.of(2, 3, 8), Laps.V.stagesOf(2, 3, 9));
    }

    private static List<Integer> ranks(Placement placement) {
        return IntStream.range(0, 9).mapToObj(stage -> placement.rankOf(stage, 0, 3)).toList();
    }
}
