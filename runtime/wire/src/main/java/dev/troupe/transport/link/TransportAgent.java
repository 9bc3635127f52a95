package dev.troupe.transport.link;

import dev.troupe.transport.Counters;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import dev.troupe.wire.AgentThread;
import dev.troupe.wire.Mailbox;
import dev.troupe.wire.way.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent of a transport's thread. In each round it handles commands, sends credits, sends a few fragments to each node,
 * and receives a few. It never waits for an engine: each round polls the fences of messages and buffers.
 */
final class TransportAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(TransportAgent.class);
    /** Fragments of one edge before the next edge: 256 KiB over IPC, some 60 microseconds. */
    private static final int FRAGMENTS_PER_TURN = 4;
    /** Edges of a node before frames are received again, so that new frames are read while they are in the cache. */
    private static final int TURNS_PER_ROUND = 4;
    private static final int FRAGMENTS_PER_POLL = FRAGMENTS_PER_TURN * TURNS_PER_ROUND;

    private NodeMap nodes;
    private int[] peers;
    private final Links links;
    private final Counters counters;
    private final NanoClock clock;
    private final Mailbox<Command> commands;
    private final RankListeners listeners;
    private final SendQueue sends;
    private final PostedReceives receives;
    private final Arrivals arrivals;
    private final Consumer<SendQueue.Outgoing> giveBack = this::giveBack;
    private final AgentThread thread;
    /** The latest epoch that any thread may use. A listener may use it before the caller that began it returns. */
    private final AtomicReference<Command.Epoch> announced;
    private int epoch;
    /** Whether in the last round a message or a buffer waited for an engine. */
    private boolean awaitsEngine;
    /** The error that ended the thread, or null. */
    private volatile TransportFault.TransportEnded end;
    private volatile boolean ended;

    /** The commands of other threads. A message and a buffer are commands themselves. */
    sealed interface Command
            permits Command.Register, Command.Epoch, Command.Pending, SendQueue.Outgoing, PostedReceives.Buffer {
        record Register(int rank, TransportListener listener) implements Command {
        }

        /** An epoch, with the nodes of the ranks in it. */
        record Epoch(int epoch, NodeMap nodes) implements Command {
        }

        record Pending(CompletableFuture<List<PendingTransfer>> answer) implements Command {
        }
    }

    TransportAgent(NodeMap nodes, Links links, Counters counters, NanoClock clock) {
        this.nodes = nodes;
        this.links = links;
        this.counters = counters;
        this.clock = clock;
        this.listeners = new RankListeners(nodes.worldSize(), counters);
        this.sends = new SendQueue(nodes.nodeCount(), this::nodeOf);
        this.receives = new PostedReceives(nodes.nodeCount(), this::nodeOf, listeners);
        this.arrivals = new Arrivals(nodes, counters, clock, listeners, sends, receives);
        this.peers = peersOf(nodes);
        this.announced = new AtomicReference<>(new Command.Epoch(0, nodes));
        this.commands = new Mailbox<>(links.rest());
        this.thread = new AgentThread(this,
                new TransportIdle(links, commands, () -> awaitsEngine, this::awaitsStream), this::onError);
    }

    private int nodeOf(int rank) {
        return nodes.nodeOf(rank);
    }

    private static int[] peersOf(NodeMap nodes) {
        return nodes.peers().stream().mapToInt(Integer::intValue).toArray();
    }

    AgentThread thread() {
        return thread;
    }

    @Override
    public String roleName() {
        return "troupe-transport";
    }

    /** Submits a command, from any thread, and wakes the transport thread if it rests. */
    void submit(Command command) {
        commands.put(command);
        if (ended) {
            giveBackCommands();
        }
    }

    /** Returns the latest epoch that may be used. */
    Command.Epoch announced() {
        return announced.get();
    }

    /** Allows the use of an epoch, after its command is queued. */
    void announce(Command.Epoch begun) {
        announced.accumulateAndGet(begun, (one, other) -> other.epoch() > one.epoch() ? other : one);
    }

    /** Returns whether the thread takes no more commands; tensors of later commands are returned at once. */
    boolean hasEnded() {
        return ended;
    }

    /** Asks the thread to end. */
    void stop() {
        thread.stop();
        commands.wake();
    }

    private void onError(Throwable error) {
        LOG.error("the transport thread ended by an error", error);
        end = new TransportFault.TransportEnded(error instanceof TransportException
                ? error.getMessage()
                : "the transport thread ended by an error: " + error);
        listeners.tellAll(listener -> listener.onFault(end));
    }

    @Override
    public void onClose() {
        try {
            links.settle(Integer.MAX_VALUE);
        } finally {
            giveAllBack();
        }
    }

    private void giveAllBack() {
        try {
            sends.clear(giveBack);
            receives.clear();
        } finally {
            ended = true;
            try {
                giveBackCommands();
            } finally {
                links.close();
            }
        }
    }

    @Override
    public int doWork() {
        int work = takeCommands() + receives.freed();
        awaitsEngine = receives.awaitsEngine();
        work += links.invoke();
        long now = clock.nanoTime();
        for (int node : peers) {
            Link link = links.link(node);
            work += sendCredits(link, now) + sendFragments(link, now) + link.flush(now);
            TransportFault fault = link.newFault(now);
            if (fault != null) {
                LOG.warn("{}", fault.sentence());
                listeners.tellAll(listener -> listener.onFault(fault));
            }
        }
        work += links.poll(arrivals, FRAGMENTS_PER_POLL);
        awaitsEngine |= links.awaitsEngine();
        return work;
    }

    private boolean awaitsStream() {
        return sends.next(nodes.self()) != null || receives.nextCreditDue(nodes.self()) != null;
    }

    private int takeCommands() {
        int taken = 0;
        Command command;
        while ((command = commands.poll()) != null) {
            taken++;
            switch (command) {
                case Command.Register register -> {
                    listeners.register(register.rank(), register.listener());
                    if (epoch > 0) { // the epoch may have begun since this rank was started
                        listeners.tell(register.rank(), listener -> listener.onEpoch(epoch));
                    }
                }
                case PostedReceives.Buffer buffer -> {
                    if (receives.grant(buffer)) {
                        links.expect(nodeOf(buffer.edge().fromRank()), buffer.edge(), buffer.engine());
                    } else {
                        RankListeners.returned(buffer.owner(), buffer.edge(), buffer.tensor());
                    }
                }
                case SendQueue.Outgoing message -> {
                    if (!sends.send(message)) {
                        RankListeners.returned(message.owner, message.id.edge(), message.tensor);
                    }
                }
                case Command.Epoch begun -> {
                    if (begun.epoch() > epoch) {
                        begin(begun);
                    }
                }
                case Command.Pending pending ->
                    pending.answer().complete(Diagnosis.of(sends, receives, clock.nanoTime()));
            }
        }
        return taken;
    }

    private void begin(Command.Epoch begun) {
        epoch = begun.epoch();
        announce(begun);
        listeners.tellAll(listener -> listener.onEpoch(epoch));
        boolean isMoved = nodes != begun.nodes();
        nodes = begun.nodes();
        arrivals.epoch(epoch, nodes);
        links.settle(epoch); // before the tensors go back to ranks, which may change them
        sends.epoch(epoch, giveBack);
        receives.epoch(epoch);
        if (isMoved) {
            listeners.keep(nodes::isLocal);
            links.enter(nodes);
            peers = peersOf(nodes);
        }
    }

    private int sendCredits(Link link, long now) {
        int sent = 0;
        IncomingEdge edge;
        while ((edge = receives.nextCreditDue(link.node())) != null
                && link.sendCredit(epoch, edge.edge, edge.creditsDue, now) == Outcome.ACCEPTED) {
            receives.creditSent(link.node());
            sent++;
        }
        return sent;
    }

    private int sendFragments(Link link, long now) {
        int sent = 0;
        for (int turn = 0; turn < TURNS_PER_ROUND; turn++) {
            SendQueue.Outgoing message = sends.next(link.node());
            if (message == null) {
                return sent;
            }
            if (!message.isReady()) {
                awaitsEngine = true;
                sends.passTurn(link.node());
                continue;
            }
            if (message.failure != null) {
                abandon(link, message, message.failure);
                return sent + 1;
            }
            for (int fragment = 0; fragment < FRAGMENTS_PER_TURN && message.remaining() > 0; fragment++) {
                Outcome outcome = link.send(message, now);
                if (message.failure != null) {
                    abandon(link, message, message.failure);
                    return sent + 1;
                }
                if (outcome == Outcome.ACCEPTED) {
                    sent++;
                } else if (link.isFullFor(message)) {
                    awaitsEngine = true; // the receiver's
                    break;
                } else {
                    return sent;
                }
            }
            if (message.remaining() > 0 || message.piecesInFlight > 0) {
                sends.passTurn(link.node());
            } else {
                sends.finish(link.node(), now);
                counters.sentMessage();
                listeners.sent(message);
            }
        }
        return sent;
    }

    private void giveBack(SendQueue.Outgoing message) {
        RankListeners.returned(listeners.of(message.id.edge().fromRank()), message.id.edge(), message.tensor);
    }

    private void abandon(Link link, SendQueue.Outgoing message, RuntimeException failure) {
        link.forget(message);
        sends.finish(link.node(), clock.nanoTime());
        String sentence = "the message of " + message.id + " was not sent: the engine could not read its tensor: "
                + failure;
        LOG.error(sentence, failure);
        giveBack.accept(message);
        listeners.tell(message.id.edge().fromRank(),
                listener -> listener.onFault(new TransportFault.SendFault(message.id, sentence)));
    }

    /** Returns the tensors of commands that the thread did not handle. Any thread. */
    private void giveBackCommands() {
        List<Command> late = new ArrayList<>();
        synchronized (this) { // no longer: a listener has locks, and a thread that submits may hold one of them
            Command command;
            while ((command = commands.poll()) != null) {
                late.add(command);
            }
        }
        for (Command left : late) {
            switch (left) {
                case Command.Register register -> {
                    if (end != null) {
                        RankListeners.tell(register.listener(), listener -> listener.onFault(end));
                    }
                }
                case PostedReceives.Buffer buffer ->
                    RankListeners.returned(buffer.owner(), buffer.edge(), buffer.tensor());
                case SendQueue.Outgoing message ->
                    RankListeners.returned(message.owner, message.id.edge(), message.tensor);
                case Command.Epoch epochBegun -> LOG.debug("epoch {} came after the end", epochBegun.epoch());
                case Command.Pending pending -> pending.answer().complete(List.of());
            }
        }
    }
}
