package dev.troupe.protocol.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random walks of a {@link NodeMachine} under coordinators that are lost and have successors, with orders of former ones
 * that come late, groups that fail, hang or cannot start, and memory that the transport keeps for a while.
 *
 * <p>A rank is hosted once, and exactly the ranks are hosted that the last order places here. A rank is given up before its
 * successor starts, and its memory is freed once, after its end. Orders of an epoch that is not newer have no effect, and
 * the leading coordinator gives none. A node asks for a coordinator while it has none, and after its end there are no
 * commands.
 */
@Tag("simulation")
class NodeSimulationTest {
    private static final int WALKS = 4000;

    @Test
    void shouldKeepEveryPromiseInAnyOrderOfEvents() {
        int recoveries = 0;
        int takeovers = 0;
        for (int seed = 0; seed < WALKS; seed++) {
            NodeWorld world = new NodeWorld(seed, true);
            world.walk();
            recoveries += world.epochsBegun();
            takeovers += world.takeovers();
        }
        assertTrue(recoveries > 3 * WALKS, recoveries + " epochs begin");
        assertTrue(takeovers > WALKS / 2, takeovers + " coordinators take over");
    }

    /** The former rule: an order does not name its coordinator. */
    @Test
    void shouldFindALateOrderThatHasTheEpochOfTheSuccessor() {
        for (int seed = 0; seed < WALKS; seed++) {
            try {
                new NodeWorld(seed, false).walk();
            } catch (AssertionError found) {
                assertTrue(found.getMessage().contains("of the coordinator that leads has no effect"),
                        found::getMessage);
                return;
            }
        }
        throw new AssertionError("no walk finds it");
    }
}
