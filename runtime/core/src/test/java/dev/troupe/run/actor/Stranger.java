package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.node.NodeEvent;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;

/** A node that is not of the run, which the coordinator refuses when its turn comes. */
final class Stranger {
    private Stranger() {
    }

    /** Returns once the coordinator has taken all earlier messages. */
    static void awaitItsTurn(ActorTestKit kit, ActorRef<TrainingCoordinator.Command> coordinator, int term) {
        TestProbe<NodeActor.Command> stranger = kit.createTestProbe();
        coordinator.tell(new TrainingCoordinator.NodeJoined(stranger.ref(), "stranger", Map.of(), 0, term,
                Optional.empty(), WarmUpReport.NOTHING_TO_RUN));
        assertInstanceOf(NodeEvent.Refused.class, stranger.expectMessageClass(NodeActor.Happened.class).event());
    }
}
