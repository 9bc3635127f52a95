package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.plan.FaultWords;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.Pass;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NamedMessages;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transport that injects the faults of a {@link FaultInjector} in messages: loss, duplicate, reordering, delay, damage. A
 * fault strikes a message when it is sent.
 *
 * <p>The inner transport loses or damages the message. A duplicate is sent after the first message, before the tensor
 * returns to the rank, so both have the same content. A delayed message or credit is sent at its time, but always before the
 * epoch grows: then the transport returns every tensor.
 */
public final class FaultyTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(FaultyTransport.class);
    private static final long PATIENCE_SECONDS = 5;

    private final Transport inner;
    private final NamedMessages faulty;
    private final FaultInjector faults;
    private final ToIntFunction<Edge> senderStage;
    private final int microbatchesPerStep;
    private volatile IntPredicate isOfThisNode;
    private final Map<Integer, Relay> relays = new ConcurrentHashMap<>();
    private final Map<MessageId, Engine> twice = new ConcurrentHashMap<>();
    // Held messages, in the order of their sending.
    private final Queue<Held> held = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> lateGrants = new ConcurrentLinkedQueue<>();
    private final AtomicLong cutUntilNanos;
    private final LongSupplier nanoTime;
    private final ScheduledExecutorService timer;

    /** The fate of a held message: sent at its time, or after the next one of its edge. */
    private enum Fate {
        LATE, OVERTAKEN
    }

    private record Held(MessageId id, Engine engine, Tensor tensor, Fate fate, long dueNanos) {
        boolean isAheadOf(MessageId other) {
            return fate == Fate.LATE && id.edge().equals(other.edge());
        }
    }

    /**
     * @param faulty the messages that the inner transport loses or damages
     * @param senderStage the stage that sends on an edge
     * @param isOfThisNode whether a rank is on this node in the first epoch
     */
    public FaultyTransport(Transport inner, NamedMessages faulty, FaultInjector faults,
            ToIntFunction<Edge> senderStage, int microbatchesPerStep, IntPredicate isOfThisNode) {
        this(inner, faulty, faults, senderStage, microbatchesPerStep, isOfThisNode, System::nanoTime,
                new ScheduledThreadPoolExecutor(1,
                        Thread.ofPlatform().daemon().name("troupe-faults").factory()));
    }

    /**
     * As above, with another clock.
     *
     * @param timer one thread with delays on that clock
     */
    FaultyTransport(Transport inner, NamedMessages faulty, FaultInjector faults, ToIntFunction<Edge> senderStage,
            int microbatchesPerStep, IntPredicate isOfThisNode, LongSupplier nanoTime, ScheduledExecutorService timer) {
        this.nanoTime = nanoTime;
        this.timer = timer;
        this.cutUntilNanos = new AtomicLong(nanoTime.getAsLong());
        this.inner = inner;
        this.faulty = faulty;
        this.faults = faults;
        this.senderStage = senderStage;
        this.microbatchesPerStep = microbatchesPerStep;
        this.isOfThisNode = isOfThisNode;
    }

    /** The listener of a rank for events of the inner transport and of this one; one call at a time. */
    private final class Relay implements TransportListener {
        private final TransportListener rank;

        Relay(TransportListener rank) {
            this.rank = rank;
        }

        @Override
        public synchronized void onLanded(MessageId id, Tensor tensor, int rows) {
            rank.onLanded(id, tensor, rows);
        }

        @Override
        public synchronized void onSent(MessageId id, Tensor tensor, long creditNanos) {
            faulty.forget(id);
            Engine engine = twice.remove(id);
            if (engine == null) {
                rank.onSent(id, tensor, creditNanos);
            } else {
                inner.send(id, engine, tensor);
            }
        }

        @Override
        public synchronized void onReturned(Edge edge, Tensor tensor) {
            rank.onReturned(edge, tensor);
        }

        @Override
        public synchronized void onEpoch(int epoch) {
            rank.onEpoch(epoch);
        }

        @Override
        public synchronized void onFault(TransportFault fault) {
            rank.onFault(fault);
        }
    }

    @Override
    public void register(int rank, TransportListener listener) {
        Relay relay = new Relay(listener);
        relays.put(rank, relay);
        inner.register(rank, relay);
    }

    @Override
    public void grant(int epoch, Edge edge, Engine engine, Tensor buffer) {
        long late = faults.creditLateNanos(edge.toRank());
        if (late == 0) {
            inner.grant(epoch, edge, engine, buffer);
            return;
        }
        Runnable grant = () -> inner.grant(epoch, edge, engine, buffer);
        lateGrants.add(grant);
        timer.schedule(() -> grantNow(grant), late, TimeUnit.NANOSECONDS);
    }

    private void grantNow(Runnable late) {
        if (lateGrants.remove(late)) {
            try {
                late.run();
            } catch (IllegalStateException ended) { // the transport's thread: nothing more is sent to this rank
                LOG.debug("a late credit could not be granted", ended);
            }
        }
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        Edge edge = id.edge();
        FaultSpec fault = Pass.kindOf(id.pass()) == Pass.Kind.VALIDATION
                ? null
                : ofMessage(id, edge).orElse(null);
        if (fault == null) {
            pass(id, engine, tensor);
            return;
        }
        long now = nanoTime.getAsLong();
        long nanos = (long) (fault.seconds() * 1e9);
        switch (fault.kind()) {
            case DROP -> {
                faulty.lose(id);
                inner.send(id, engine, tensor);
            }
            case CORRUPT -> {
                faulty.damage(id);
                inner.send(id, engine, tensor);
            }
            case DUPLICATE -> {
                twice.put(id, engine);
                pass(id, engine, tensor);
            }
            case REORDER -> hold(id, engine, tensor, Fate.OVERTAKEN, now + nanos);
            case DELAY -> hold(id, engine, tensor, Fate.LATE, now + nanos);
            default -> throw new IllegalStateException(fault + " is no fault of a message");
        }
    }

    /**
     * Returns the fault of a message. Messages are numbered through all steps of a pass; a message that is sent once in a
     * step has the step's number.
     */
    private Optional<FaultSpec> ofMessage(MessageId id, Edge edge) {
        int perStep = edge.kind() == MessageKind.SHARED_GRADIENT ? 1 : microbatchesPerStep;
        int step = id.microbatch() / perStep; // rounded down
        return faults.ofMessage(edge.fromRank(), senderStage.applyAsInt(edge), Pass.stepOf(id.pass()) + step,
                id.microbatch() - step * perStep, FaultWords.contentOf(edge.kind()));
    }

    /** Sends a message, or holds it after a late one: messages of an edge keep their order. */
    private void pass(MessageId id, Engine engine, Tensor tensor) {
        long cutUntil = cutUntilNanos.get();
        if (cutUntil - nanoTime.getAsLong() > 0 && !isOfThisNode.test(id.edge().toRank())) {
            hold(id, engine, tensor, Fate.LATE, cutUntil);
            return;
        }
        Optional<Held> ahead = held.stream().filter(message -> message.isAheadOf(id)).findFirst();
        if (ahead.isPresent()) {
            hold(id, engine, tensor, Fate.LATE, ahead.get().dueNanos());
            return;
        }
        inner.send(id, engine, tensor);
        held.stream().filter(message -> message.fate() == Fate.OVERTAKEN && message.id().edge().equals(id.edge()))
                .forEach(message -> timer.execute(() -> letGo(message)));
    }

    private void hold(MessageId id, Engine engine, Tensor tensor, Fate fate, long dueNanos) {
        Held message = new Held(id, engine, tensor, fate, dueNanos);
        held.add(message);
        timer.schedule(() -> {
            // Earlier messages leave first, in their order; their own times may be slightly different.
            held.stream().takeWhile(other -> other != message).filter(other -> other.isAheadOf(id))
                    .forEach(this::letGo);
            letGo(message);
        }, dueNanos - nanoTime.getAsLong(), TimeUnit.NANOSECONDS);
    }

    /**
     * Sends a held message. Called only on the timer's thread, so that a wait for the timer is a wait for all held messages.
     */
    private void letGo(Held message) {
        if (!held.remove(message)) {
            return;
        }
        try {
            inner.send(message.id(), message.engine(), message.tensor());
        } catch (IllegalStateException ended) { // the transport's thread, by an error that was reported to the ranks
            LOG.debug("a message could not be let go", ended);
            relays.get(message.id().edge().fromRank()).onReturned(message.id().edge(), message.tensor());
        }
    }

    /** Holds messages to other nodes for a time. */
    public void cut(Duration length) {
        cutUntilNanos.accumulateAndGet(nanoTime.getAsLong() + length.toNanos(), (a, b) -> a - b > 0 ? a : b);
    }

    @Override
    public void epoch(int epoch) {
        letAllGo();
        twice.clear();
        inner.epoch(epoch);
    }

    @Override
    public void epoch(int epoch, NodeMap nodes) {
        letAllGo();
        twice.clear();
        isOfThisNode = nodes::isLocal;
        inner.epoch(epoch, nodes);
    }

    private void letAllGo() {
        CompletableFuture.runAsync(() -> {
            held.forEach(this::letGo);
            lateGrants.forEach(this::grantNow);
        }, timer).orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    @Override
    public List<PendingTransfer> pending() {
        return inner.pending();
    }

    @Override
    public TransportCounters counters() {
        return inner.counters();
    }

    @Override
    public void close() {
        if (!timer.isShutdown()) {
            letAllGo(); // the inner transport returns unsent messages as it closes
            timer.shutdownNow();
        }
        inner.close();
    }
}
