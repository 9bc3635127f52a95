package dev.troupe.run.actor;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.protocol.Incarnation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.dispatch.Dispatcher;
import org.apache.pekko.dispatch.Dispatchers;
import org.apache.pekko.dispatch.MessageDispatcher;
import org.apache.pekko.dispatch.MessageDispatcherConfigurator;
import scala.jdk.javaapi.DurationConverters;

/**
 * The thread of one incarnation of a rank, on which its stage actors load, compute and write. Its dispatcher takes one
 * message of an actor at a time. A stage that hangs keeps the thread, and the next incarnation has a new one. Pekko ends the
 * thread after the last of the actors.
 *
 * <p>The schedule actor numbers its orders, since the mailboxes of two stages have no common order. An order checks whether
 * it {@link #isNext is next}. If not, it goes to the end of its mailbox, after the one that is.
 *
 * <p>Thread rule: {@link #isNext}, {@link #computes}, {@link #computed} and {@link #fail} on the thread itself; the rest on
 * any.
 */
final class StageThread {
    private static final int ONE_MESSAGE_AT_A_TIME = 1;
    private static final Duration LINGERING = Duration.ofMillis(10);
    private static final AtomicLong STARTED = new AtomicLong();

    private final String name;
    private volatile Thread thread;
    // Of the thread itself.
    private long next;
    // Guarded by this.
    private boolean isComputing;
    private volatile boolean hasEnded;

    StageThread(Incarnation rank) {
        this.name = "rank-" + rank.rank();
    }

    /** Registers the dispatcher in an actor system, under a unique name; called once. */
    DispatcherSelector register(ActorSystem<?> system) {
        Dispatchers dispatchers = Adapter.toClassic(system).dispatchers();
        String id = "troupe.stages-of-" + name + "." + STARTED.incrementAndGet();
        Config settings = ConfigFactory.parseMap(Map.of("id", id))
                .withFallback(system.settings().config().getConfig(Dispatchers.DefaultDispatcherId()));
        dispatchers.registerConfigurator(id, new OneThread(id, settings, dispatchers));
        return DispatcherSelector.fromConfig(id);
    }

    private final class OneThread extends MessageDispatcherConfigurator {
        private final MessageDispatcher dispatcher;

        OneThread(String id, Config settings, Dispatchers dispatchers) {
            super(settings, dispatchers.prerequisites());
            dispatcher = new Dispatcher(this, id, ONE_MESSAGE_AT_A_TIME, DurationConverters.toScala(Duration.ZERO),
                    (_, _) -> () -> Executors.newSingleThreadExecutor(StageThread.this::start),
                    DurationConverters.toScala(LINGERING));
        }

        @Override
        public MessageDispatcher dispatcher() {
            return dispatcher;
        }
    }

    private Thread start(Runnable task) {
        thread = Thread.ofPlatform().name(name).daemon().unstarted(task);
        return thread;
    }

    /** Whether an order is the next one; if so, it has begun. */
    boolean isNext(long order) {
        boolean isNext = order == next;
        if (isNext) {
            next++;
        }
        return isNext;
    }

    /** Marks the start of a stage's computation; {@link #computed} follows. */
    synchronized void computes() {
        isComputing = true;
    }

    /**
     * Marks the end of a stage's computation. It clears an interrupt, since Pekko must not get one while it handles
     * mailboxes.
     */
    synchronized void computed() {
        isComputing = false;
        Thread.interrupted();
    }

    /** Ends the thread's work after a stage has failed: the rank's state does not fit later orders. */
    void fail() {
        hasEnded = true;
    }

    /** Gives the incarnation up: interrupts the action in progress, and refuses later orders. */
    synchronized void retire() {
        hasEnded = true;
        if (isComputing) {
            thread.interrupt();
        }
    }

    boolean hasEnded() {
        return hasEnded;
    }

    /** Returns the calls on the thread's stack, innermost first; empty if it never ran. */
    List<StackTraceElement> stack() {
        Thread running = thread;
        return running == null ? List.of() : List.of(running.getStackTrace());
    }
}
