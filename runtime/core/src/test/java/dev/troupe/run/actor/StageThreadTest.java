package dev.troupe.run.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.protocol.Incarnation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("actor")
class StageThreadTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** An order, and what happens while it is done. */
    private record Order(long number, Runnable work) {
    }

    private final ActorTestKit kit = ActorTestKit.create(ConfigFactory.load("troupe-actors"));
    private final StageThread thread = new StageThread(new Incarnation(3, 0, 1));
    private final DispatcherSelector selector = thread.register(kit.system());
    private final BlockingQueue<Long> done = new LinkedBlockingQueue<>();

    @AfterEach
    void shutDown() {
        kit.shutdownTestKit();
    }

    private Behavior<Order> stage() {
        return Behaviors.setup(context -> Behaviors.receiveMessage(order -> {
            if (thread.isNext(order.number())) {
                done.add(order.number());
                order.work().run();
            } else {
                context.getSelf().tell(order);
            }
            return Behaviors.same();
        }));
    }

    @Test
    void shouldKeepTheOrderOfTheRowOverTwoStages() throws InterruptedException {
        ActorRef<Order> first = kit.spawn(stage(), "first", selector);
        ActorRef<Order> second = kit.spawn(stage(), "second", selector);
        CountDownLatch hasNext = new CountDownLatch(1);
        // The first stage has order 1 in its mailbox when order 0 ends, and only then does the second get order 2.
        first.tell(new Order(0, () -> {
            awaitQuietly(hasNext);
            second.tell(new Order(2, () -> first.tell(new Order(3, () -> {
            }))));
        }));
        first.tell(new Order(1, () -> {
        }));
        hasNext.countDown();
        for (long number : LongStream.range(0, 4).toArray()) {
            assertEquals(number, done.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldBeOneThreadThatEndsAfterTheActors() throws InterruptedException {
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        List<ActorRef<Order>> stages = List.of(kit.spawn(stage(), selector), kit.spawn(stage(), selector));
        stages.get(0).tell(new Order(0, () -> threads.add(Thread.currentThread())));
        stages.get(1).tell(new Order(1, () -> threads.add(Thread.currentThread())));
        Thread own = threads.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertNotNull(own);
        assertEquals("rank-3", own.getName());
        assertTrue(own.isDaemon());
        assertEquals(own, threads.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertFalse(thread.stack().isEmpty());
        stages.forEach(stage -> kit.stop(stage, PATIENCE));
        assertTrue(own.join(PATIENCE), "the thread outlives its actors");
    }

    @Test
    void shouldLeaveAHungThreadToItsIncarnation() throws InterruptedException {
        CountDownLatch mayGoOn = new CountDownLatch(1);
        kit.spawn(stage(), selector).tell(new Order(0, () -> awaitQuietly(mayGoOn)));
        assertEquals(0, done.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        DispatcherSelector next = new StageThread(new Incarnation(3, 1, 1)).register(kit.system());
        CountDownLatch runs = new CountDownLatch(1);
        kit.spawn(Behaviors.setup(_ -> {
            runs.countDown();
            return Behaviors.empty();
        }), next);
        assertTrue(runs.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        mayGoOn.countDown();
    }

    @Test
    void shouldInterruptOnlyAStageThatComputes() throws InterruptedException {
        BlockingQueue<Boolean> interrupted = new LinkedBlockingQueue<>();
        CountDownLatch computing = new CountDownLatch(1);
        ActorRef<Order> stage = kit.spawn(stage(), selector);
        stage.tell(new Order(0, () -> {
            thread.computes();
            computing.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException asked) {
                Thread.currentThread().interrupt();
            }
            thread.computed();
            interrupted.add(Thread.currentThread().isInterrupted());
        }));
        assertTrue(computing.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        thread.retire();
        assertFalse(interrupted.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS), "Pekko must not meet the interrupt");
        assertTrue(thread.hasEnded());
        thread.retire();
        stage.tell(new Order(1, () -> interrupted.add(Thread.currentThread().isInterrupted())));
        assertFalse(interrupted.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS), "nothing computed");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
