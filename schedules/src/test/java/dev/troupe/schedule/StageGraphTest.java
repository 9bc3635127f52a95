package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.StageGraph.Channel;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class StageGraphTest {
    private static final StageGraph GRAPH = StageGraph.chain(8)
            .with(List.of(new Channel(0, 7, Flow.SHARED), new Channel(7, 0, Flow.SHARED)));

    @ParameterizedTest
    @CsvSource({"1SEND_F0, 2RECV_F0", "2RECV_F0, 1SEND_F0", "2SEND_B5, 1RECV_B5", "1RECV_B5, 2SEND_B5",
            "0SEND_SHARED, 7RECV_SHARED", "0RECV_SHARED, 7SEND_SHARED", "7SEND_SHARED, 0RECV_SHARED"})
    void shouldKnowTheOtherEndOfAMessage(String one, String other) {
        assertEquals(Action.parse(other), GRAPH.peer(Action.parse(one)));
    }

    @ParameterizedTest
    @CsvSource({"0RECV_F0", "0SEND_B0", "7SEND_F0", "7RECV_B0", "1SEND_SHARED", "1RECV_SHARED"})
    void shouldKnowTheEndsOfAFlow(String message) {
        assertEquals(StageGraph.NONE, GRAPH.peerStage(Action.parse(message)));
        assertThrows(IllegalStateException.class, () -> GRAPH.peer(Action.parse(message)));
    }

    @Test
    void shouldKnowNoOtherEndOfOtherActions() {
        assertThrows(IllegalStateException.class, () -> GRAPH.peer(Action.parse("1F0")));
        assertThrows(IllegalStateException.class, () -> GRAPH.peer(Action.parse("1UPDATE")));
    }

    @Test
    void shouldLeadIfItsChannelsLead() {
        // A skip in place of the chain: stage 0 hands on to stage 2.
        StageGraph skip = new StageGraph(3, List.of(new Channel(0, 2, Flow.ACTIVATIONS)));
        assertEquals(Action.parse("2RECV_F0"), skip.peer(Action.parse("0SEND_F0")));
        assertEquals(Action.parse("0RECV_B0"), skip.peer(Action.parse("2SEND_B0")));
        assertEquals(StageGraph.NONE, skip.peerStage(Action.parse("1RECV_F0")));
    }

    @Test
    void shouldRefuseAChannelThatHasNoRoom() {
        assertEquals("A graph of 8 stages has no room for the channel from stage 0 to stage 2: a channel leads between"
                + " stages, and a stage has one of a flow in each direction.",
                assertThrows(PlanException.class, () -> GRAPH.with(List.of(new Channel(0, 2, Flow.ACTIVATIONS))))
                        .getMessage());
        assertThrows(PlanException.class, () -> GRAPH.with(List.of(new Channel(0, 8, Flow.SHARED))));
    }
}
