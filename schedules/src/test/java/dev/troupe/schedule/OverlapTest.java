package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.lowering.AddTransfers;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A forward and a backward that make a pair. */
@Tag("plan")
class OverlapTest {
    private static final String CSV = """
            0F0,0F1,3F0,(3F1;3B0)OVERLAP_F_B,0B0,3B1,0B1
            1F0,2F0,1F1,2F1,(1F2;2B0)OVERLAP_F_B,1B0
            """;

    @Test
    void shouldReadAndWriteTheTextPyTorchUses() {
        Plan plan = Plan.fromCsv("hand", CSV);
        assertEquals(Set.of(new Place(0, 3), new Place(1, 4)), plan.overlaps());
        assertEquals(Action.parse("3F1"), plan.at(new Place(0, 3)));
        assertEquals(Action.parse("3B0"), plan.at(new Place(0, 4)));
        assertEquals(CSV, plan.toCsv());
        assertEquals(plan, plan.toPlan(Laps.V));
    }

    @Test
    void shouldDrawAPairInParentheses() {
        assertEquals("""
                hand: 1 rank, 1 stage, 2 microbatches
                        0     1     2     3
                rank 0  0F0   (0F1  0B0)  0B1""", Plan.fromCsv("hand", "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n"
                .replace("\\\n", "\n")).toString());
    }

    @Test
    void shouldPutTheMessagesOfAPairAroundIt() {
        Plan lowered = new AddTransfers().apply(Plan.fromCsv("hand", """
                0F0,0F1,0F2,0B0,0B1,0B2
                1F0,1F1,(1F2;1B0)OVERLAP_F_B,1B1,1B2
                2F0,2B0,2F1,2B1,2F2,2B2
                """));
        assertEquals("1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,1RECV_F2,1RECV_B0,(1F2;1B0)OVERLAP_F_B,1SEND_F2,"
                + "1SEND_B0,1RECV_B1,1B1,1SEND_B1,1RECV_B2,1B2,1SEND_B2", lowered.toCsv().lines().toList().get(1));
    }

    @Test
    void shouldTakePairsApart() {
        Plan together = Plan.fromCsv("hand", CSV);
        Plan apart = together.withRows(together.rows());
        assertEquals("""
                0F0,0F1,3F0,3F1,3B0,0B0,3B1,0B1
                1F0,2F0,1F1,2F1,1F2,2B0,1B0
                """, apart.toCsv());
    }

    @Test
    void shouldRefuseActionsThatMakeNoPair() {
        assertRefused("Plan \"hand\", line 1, cell 2: \"(0F1)OVERLAP_F_B\" is no pair: write a forward and a backward, "
                + "as in (0F3;3B1)OVERLAP_F_B.", "0F0,(0F1)OVERLAP_F_B\n");
        assertRefused("Plan \"hand\", line 1, cell 2: \"(0F1;0B0)OVERLAP\" is no pair: write a forward and a backward, "
                + "as in (0F3;3B1)OVERLAP_F_B.", "0F0,(0F1;0B0)OVERLAP\n");
        assertRefused("Plan \"hand\", rank 0, position 1: a pair that overlaps is a forward and the B or I of another "
                + "microbatch, as in (0F3;3B1)OVERLAP_F_B, but it is 0B0 and 0F1.", "0F0,(0B0;0F1)OVERLAP_F_B,0B1\n");
        assertRefused("Plan \"hand\", rank 0, position 0: a pair that overlaps is a forward and the B or I of another "
                + "microbatch, as in (0F3;3B1)OVERLAP_F_B, but it is 0F0 and 0B0.", "(0F0;0B0)OVERLAP_F_B\n");
    }

    private static void assertRefused(String expected, String csv) {
        assertEquals(expected, assertThrows(PlanException.class, () -> Plan.fromCsv("hand", csv)).getMessage());
    }
}
