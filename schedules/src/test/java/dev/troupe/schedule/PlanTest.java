package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PlanTest {
    private static final String CSV = """
            0F0,0F1,0B0,0B1
            1F0,1B0,1F1,1B1
            """;

    @Test
    void shouldReadFromCsvAndWriteTheSameBytes() {
        Plan plan = Plan.fromCsv("by hand", Laps.LOOP, CSV);
        assertEquals(2, plan.rankCount());
        assertEquals(2, plan.stageCount());
        assertEquals(2, plan.microbatchCount());
        assertEquals(new Action(1, Kind.FULL_BACKWARD, 0), plan.at(new Place(1, 1)));
        assertEquals(CSV, plan.toCsv());
        assertEquals(plan, Plan.fromCsv("by hand", Laps.LOOP, 2, 2, plan.toCsv()));
    }

    @Test
    void shouldReadThePlansPyTorchWrites() {
        String idleCellsAndItsLineEnds = "0F0,0F1,,0B0,0B1\r\n,1F0,1B0,1F1,1B1\r\n";
        assertEquals(CSV, Plan.fromCsv("by hand", Laps.LOOP, idleCellsAndItsLineEnds).toCsv());
    }

    @Test
    void shouldNameThePlaceOfAnErrorInACsv() {
        assertRefused("Plan \"by hand\", line 2, cell 3: \"1F\" is no action: write stage, kind and microbatch, as in "
                + "2F0, 1B3 or 1SEND_F0.", CSV.replace("1F1", "1F"));
    }

    @Test
    void shouldRefuseACsvWithAnEmptyLine() {
        assertRefused("Plan \"by hand\", line 2: there is no action for this rank; every line is a rank, so take out "
                + "empty lines.", CSV.replace("\n1", "\n\n1"));
        assertRefused("Plan \"by hand\" is empty: write one line for each rank.", " \n");
    }

    @Test
    void shouldRefuseSizesThatDoNotFit() {
        assertRefused("Plan \"by hand\" needs the same number of stages on every rank, but has 3 stages for 2 ranks.",
                CSV.replace("1B1", "2B1"));
        List<List<Action>> oneRow = List.of(List.of(new Action(0, Kind.FORWARD, 0)));
        PlanException refusal = assertThrows(PlanException.class,
                () -> new Plan("by hand", 2, 2, 1, Laps.LOOP, oneRow));
        assertEquals("Plan \"by hand\" needs one row for each of its ranks, but has 2 ranks and 1 row.",
                refusal.getMessage());
        assertEquals("Plan \"by hand\" needs 1 microbatch or more, but has 0.", assertThrows(PlanException.class,
                () -> new Plan("by hand", 1, 1, 0, Laps.LOOP, oneRow)).getMessage());
    }

    @Test
    void shouldNotChangeWithTheListsItWasMadeOf() {
        List<Action> row = new ArrayList<>(List.of(new Action(0, Kind.FORWARD, 0)));
        List<List<Action>> rows = new ArrayList<>(List.of(row));
        Plan plan = new Plan("by hand", 1, 1, 1, Laps.LOOP, rows);
        row.clear();
        rows.clear();
        assertEquals("0F0\n", plan.toCsv());
        assertThrows(UnsupportedOperationException.class, () -> plan.rows().get(0).clear());
    }

    private static void assertRefused(String expected, String csv) {
        PlanException refusal = assertThrows(PlanException.class, () -> Plan.fromCsv("by hand", Laps.LOOP, csv));
        assertEquals(expected, refusal.getMessage());
    }
}
