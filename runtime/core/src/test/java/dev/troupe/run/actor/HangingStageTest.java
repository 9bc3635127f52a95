package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.node.NodeEvent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stage that hangs in a kernel, whoever interrupts it. */
@Tag("actor")
class HangingStageTest extends NodeTests {
    @Test
    void shouldTrainOnWhileAStageOfTheLastEpochHangs() {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        List<ActorRef<ScheduleActor.Command>> ranks = host(() -> hangingOnce(hanging, mayGoOn),
                new InitialWeights(SmallRun.MODEL, 1));
        ranks.forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        await(hanging);
        order(new NodeEvent.EnterEpoch(1, List.of(0, 1), 0, List.of("only", "only"), Map.of()));
        List<ActorRef<ScheduleActor.Command>> successors = awaitReady();
        successors.forEach(rank -> rank.tell(new ScheduleActor.Resume(TERM, 1, -1, MessageKeys.NONE)));
        assertEquals(2, trainStep(successors, 0).stream().mapToInt(pass -> pass.losses().size()).sum());
        mayGoOn.countDown();
        kit.stop(node, PATIENCE);
        assertEquals(0, run.allocatedBytes());
    }

    @Test
    @Tag("long")
    void shouldEndWithoutAStageThatHangs() {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        host(() -> hangingOnce(hanging, mayGoOn), new InitialWeights(SmallRun.MODEL, 1))
                .forEach(rank -> rank.tell(new ScheduleActor.StartPass(TERM, FIRST)));
        await(hanging);
        node.tell(new NodeActor.Happened(new NodeEvent.Halt()));
        await(released);
        assertTrue(run.allocatedBytes() > 0, "the memory of a stage that computes must not be freed under it");
        mayGoOn.countDown();
        kit.createTestProbe().expectTerminated(node, PATIENCE);
    }

    /** An engine that hangs in its first embedding, whoever interrupts it. */
    private static CheckedEngine hangingOnce(CountDownLatch hanging, CountDownLatch mayGoOn) {
        return SmallRun.with("embedding", () -> {
            if (hanging.getCount() > 0) {
                hanging.countDown();
                while (mayGoOn.getCount() > 0) {
                    Thread.onSpinWait();
                }
            }
        });
    }
}
