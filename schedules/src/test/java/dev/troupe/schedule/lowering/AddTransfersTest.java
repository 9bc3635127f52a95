package dev.troupe.schedule.lowering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class AddTransfersTest {
    @Test
    void shouldSendAfterTheMakerAndReceiveBeforeTheUser() {
        assertLowered("""
                0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1
                1RECV_F0,1F0,1SEND_F0,1RECV_B0,1B0,1SEND_B0,1RECV_F1,1F1,1SEND_F1,1RECV_B1,1B1,1SEND_B1
                2RECV_F0,2F0,2B0,2SEND_B0,2RECV_F1,2F1,2B1,2SEND_B1
                """, Laps.LOOP, """
                0F0,0F1,0B0,0B1
                1F0,1B0,1F1,1B1
                2F0,2B0,2F1,2B1
                """);
    }

    @Test
    void shouldSendTheGradientAfterTheHalfThatMakesIt() {
        assertLowered("""
                0F0,0SEND_F0,0RECV_B0,0I0,0W0
                1RECV_F0,1F0,1I0,1SEND_B0,1W0
                """, Laps.LOOP, """
                0F0,0I0,0W0
                1F0,1I0,1W0
                """);
    }

    @Test
    void shouldSendNothingBetweenStagesOfOneRank() {
        assertLowered("""
                0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0RECV_B0,0B0
                1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2B0,1B0,1SEND_B0
                """, Laps.V, """
                0F0,3F0,3B0,0B0
                1F0,2F0,2B0,1B0
                """);
        assertLowered("0F0,1F0,1B0,0B0\n", Laps.LOOP, "0F0,1F0,1B0,0B0\n");
    }

    @Test
    void shouldRefuseAPlanThatHasMessages() {
        Plan lowered = Plan.fromCsv("by hand", Laps.LOOP, "0F0,0SEND_F0\n1RECV_F0,1F0\n");
        PlanException refusal = assertThrows(PlanException.class, () -> new AddTransfers().apply(lowered));
        assertEquals(
                "Plan \"by hand\" has sends, receives or actions of a whole step already: lower a plan that only computes.",
                refusal.getMessage());
    }

    private static void assertLowered(String expected, Placement placement, String csv) {
        assertEquals(expected, new AddTransfers().apply(Plan.fromCsv("by hand", placement, csv)).toCsv());
    }
}
