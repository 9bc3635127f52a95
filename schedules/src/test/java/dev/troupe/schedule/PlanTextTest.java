package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PlanTextTest {
    private static final Plan PLAN = Plan.fromCsv("by hand", Laps.LOOP, """
            0F0,0F1,0B0,0B1
            1F0,1B0,1F1,1B1
            """);

    @Test
    void shouldDrawALineARank() {
        assertEquals("""
                by hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3
                rank 0  0F0   0F1   0B0   0B1
                rank 1  1F0   1B0   1F1   1B1""", PlanText.grid(PLAN));
        assertEquals(PlanText.grid(PLAN), PLAN.toString());
    }

    @Test
    void shouldPointAtTheMarkedPlacesWithTheirCaptions() {
        List<Mark> marks = List.of(new Mark(new Place(0, 2), "too early"), new Mark(new Place(1, 4), "1B2 is missing"));
        assertEquals("""
                by hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3     4
                rank 0  0F0   0F1  [0B0]  0B1
                                    ^^^ too early
                rank 1  1F0   1B0   1F1   1B1  [?]
                                                ^ 1B2 is missing""", PlanText.grid(PLAN, marks));
    }

    @Test
    void shouldBreakWidePlansIntoBlocks() {
        String row = IntStream.range(0, 45).mapToObj(i -> "0F" + i).collect(Collectors.joining(","));
        Plan wide = Plan.fromCsv("wide", Laps.LOOP, row + "\n");
        List<String> lines = PlanText.grid(wide, List.of(new Mark(new Place(0, 44), "the last"))).lines().toList();
        assertTrue(lines.stream().allMatch(line -> line.length() <= 120));
        assertEquals(List.of("wide: 1 rank, 1 stage, 45 microbatches", //
                "        32     33     34     35     36     37     38     39     40     41     42     43     44",
                "rank 0  0F32   0F33   0F34   0F35   0F36   0F37   0F38   0F39   0F40   0F41   0F42   0F43  [0F44]",
                " ".repeat(92) + "^^^^ the last"),
                List.of(lines.get(0), lines.get(5), lines.get(6), lines.get(7)));
    }
}
