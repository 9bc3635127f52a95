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

    @Test
    void shouldDrawOnlyTheNeighboursOfTheMarksOfALargePlan() {
        String row = IntStream.range(0, 40_000).mapToObj(i -> "%1$dF" + i).collect(Collectors.joining(",")) + "\n";
        Plan large = Plan.fromCsv("large", Laps.LOOP,
                IntStream.range(0, 8).mapToObj(row::formatted).collect(Collectors.joining()));
        assertEquals(
                """
                        large: 8 ranks, 8 stages, 40000 microbatches; of 40000 columns, those at the marked places
                                11        12        13        14        15        16        17        18        19        20        21
                        rank 0  0F11      0F12      0F13      0F14      0F15      0F16      0F17      0F18      0F19      0F20      0F21
                        rank 1  1F11      1F12     [1F13]     1F14      1F15      1F16      1F17      1F18      1F19      1F20      1F21
                                                    ^^^^ here
                        rank 2  2F11      2F12      2F13      2F14      2F15      2F16      2F17      2F18      2F19      2F20      2F21
                        rank 3  3F11      3F12      3F13      3F14      3F15      3F16      3F17      3F18      3F19      3F20      3F21
                                39996     39997     39998     39999
                        rank 5  5F39996   5F39997   5F39998   5F39999
                        rank 6  6F39996   6F39997   6F39998   6F39999
                        rank 7  7F39996   7F39997   7F39998  [7F39999]
                                                              ^^^^^^^ and here""",
                PlanText.grid(large, List.of(new Mark(new Place(7, 39_999), "and here"),
                        new Mark(new Place(1, 13), "here"))));
        List<Mark> everywhere = IntStream.range(0, 40_000).mapToObj(i -> new Mark(new Place(0, i), "here")).toList();
        assertTrue(PlanText.grid(large, everywhere).lines().count() < 200);
    }
}
