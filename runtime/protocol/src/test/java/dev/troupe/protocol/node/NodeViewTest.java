package dev.troupe.protocol.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeViewTest {
    private final NodeView view = new NodeView("b");

    NodeViewTest() {
        view.begin(new NodeEvent.HostRanks(0, List.of("a", "b", "c"), Map.of(), ""));
    }

    @Test
    void shouldLearnTheEarlierEventsWhenItComesLate() {
        NodeView late = new NodeView("a");
        late.begin(new NodeEvent.HostRanks(4, List.of("b", "b", "c"), Map.of("a", 4, "b", 4), ""));
        assertEquals(4, late.epoch());
        assertEquals(List.of(), late.ranksHere());
        assertEquals(List.of("c"), late.enter(enter(5, "b", "b", "a")));
    }

    @Test
    void shouldReportWhoHasLostRanksAndWhoLivesHere() {
        assertEquals(List.of(1), view.ranksHere());
        assertEquals(List.of("a"), view.enter(enter(1, "b", "b", "c")));
        assertEquals(List.of(0, 1), view.ranksHere());
        assertEquals(List.of(), view.enter(enter(2, "b", "b", "c")));
        assertEquals(2, view.epoch());
    }

    @Test
    void shouldNotRequestSnapshotsThatOthersKeep() {
        assertEquals(List.of(), view.unwanted(), "nobody has said yet who keeps what");
        view.note(new NodeEvent.KeepCopies(4, List.of("b", "c", "a"), Map.of()));
        assertEquals(List.of(2), view.unwanted());
    }

    @Test
    void shouldSendCopiesToTheEntryOfABuddyAndNoneToItself() {
        view.note(new NodeEvent.KeepCopies(4, List.of("b", "c", "", "a"), Map.of("a", 5, "b", 6, "c", 7)));
        assertEquals(Map.of(1, new NodeCommand.Route.Buddy("c", 7), 3, new NodeCommand.Route.Buddy("a", 5)),
                view.buddies());
    }

    private static NodeEvent.EnterEpoch enter(int epoch, String... hosts) {
        return new NodeEvent.EnterEpoch(epoch, List.of(0), 3, List.of(hosts), Map.of());
    }

}
