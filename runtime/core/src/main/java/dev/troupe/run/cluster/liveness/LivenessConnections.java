package dev.troupe.run.cluster.liveness;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.port.DataPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of a node to all other nodes of a cluster. When a process ends, for any reason, the kernel closes its
 * connections, so the others notice the end within milliseconds. Missing heartbeats are inconclusive for seconds.
 *
 * <p>Only the end of a process counts; a stopped or starved process keeps its connections. If a connection breaks without a
 * goodbye, the node is called again at once. If its machine refuses, or another process answers in its name, the process has
 * ended. If the process answers, the call is the new connection. Without any answer the failure detector decides.
 *
 * <p>The kernels of both machines probe each other on every connection. If a kernel neither answers probes nor accepts a
 * connection, the machine has failed or the network is cut: the node is silent. All other nodes are then called at the same
 * time, so that a cut is noticed as a whole. A stopped or starved process is never silent.
 *
 * <p>Thread rule: any thread. Each connection has a virtual thread, which waits in a read.
 */
public final class LivenessConnections implements AutoCloseable {
    @FunctionalInterface
    public interface Listener {
        /**
         * Reports that the process of a node has ended; called once, on a thread of the connection.
         *
         * @param seen the evidence, as text
         */
        void onEnd(Peer peer, End end, String seen);

        /** Reports whether the machine of a node does not answer; called on any thread. */
        default void onSilence(Peer peer, boolean isSilent) {
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(LivenessConnections.class);

    /** The answer timeout of a node that has just started, perhaps while all nodes of its machine start. */
    private static final Duration GREETING = Duration.ofSeconds(5);
    /** The answer timeout of a node that is known to be up, over a network. */
    private static final Duration ANSWER = Duration.ofMillis(300);
    /** A process that is ending may close its connections some milliseconds before its port. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(20);
    private static final Duration LOOKING = Duration.ofSeconds(1);
    /** The answer timeout of a kernel; two questions may be lost. */
    private static final Duration KERNEL_ANSWER = Duration.ofMillis(250);
    private static final int KERNEL_QUESTIONS = 2;
    /** The pause after a node could not be reached. */
    private static final Duration CALL_AGAIN = Duration.ofSeconds(2);

    private final ClusterSpec cluster;
    private final NodeSpec self;
    private final Sockets sockets;
    private final DataPort port;
    private final Set<LivenessConnection> open = ConcurrentHashMap.newKeySet();
    /** The processes that a thread of this node calls, one thread for each: two nodes have at most two connections. */
    private final Set<Peer> called = ConcurrentHashMap.newKeySet();
    /** Processes that have ended, or are no longer members; such a process never returns. */
    private final Set<Peer> gone = ConcurrentHashMap.newKeySet();
    private final Set<Peer> silent = ConcurrentHashMap.newKeySet();
    private volatile boolean isCut;
    private volatile Hello hello;
    private volatile Listener listener;
    private volatile boolean isClosed;

    /**
     * Creates the connections of a node. Callers wait until {@link #begin}.
     *
     * @param port the node's data port, which is closed with the connections
     */
    public LivenessConnections(ClusterSpec cluster, NodeSpec self, Sockets sockets, DataPort port) {
        this.cluster = cluster;
        this.self = self;
        this.sockets = sockets;
        this.port = port;
    }

    /** Begins to answer callers. */
    public void begin(long uid, Listener receiver) {
        hello = new Hello(cluster.name(), new Peer(self.name(), uid));
        listener = receiver;
        port.answer(DataPort.Use.LIVENESS, this::answer);
    }

    /** Connects to a process that has become a member. Of two nodes the one that is first in the file calls. */
    public void reach(Peer peer) {
        if (isOther(peer.node()) && cluster.indexOf(self.name()) < cluster.indexOf(peer.node())) {
            Thread.ofVirtual().name("liveness-" + peer.node()).start(() -> hold(peer, false));
        }
    }

    /** Forgets a process that is no longer a member. */
    public void forget(Peer peer) {
        gone.add(peer);
        silent.remove(peer);
    }

    /** Sends a goodbye to all. Callers are refused from now on, so this is called when no other node waits for this one. */
    @Override
    public void close() {
        isClosed = true;
        port.close();
        open.forEach(LivenessConnection::sayGoodbye);
    }

    /** Behaves for a time as if the network were cut: an injected fault. Returns at once. */
    public void cut(Duration length) {
        isCut = true;
        Thread.ofVirtual().name("liveness-cut").start(() -> {
            pause(LivenessConnection.UNANSWERED);
            open.forEach(LivenessConnection::hangUpQuietly);
            pause(length.minus(LivenessConnection.UNANSWERED));
            isCut = false;
        });
    }

    private void answer(SocketChannel connection) throws IOException {
        if (isCut) {
            throw new IOException("the network is cut");
        }
        LivenessConnection line = LivenessConnection.accept(connection.socket(), hello, sockets, GREETING);
        requireOther(line);
        Thread.ofVirtual().name("liveness-accepted").start(() -> {
            if (follow(line)) {
                hold(line.hello().peer(), true);
            }
        });
    }

    private void requireOther(LivenessConnection line) throws IOException {
        Hello theirs = line.hello();
        if (!theirs.cluster().equals(cluster.name()) || !isOther(theirs.peer().node())) {
            line.hangUp();
            throw new IOException(
                    "it claims to be node " + theirs.peer().node() + " of cluster " + theirs.cluster());
        }
    }

    private boolean isOther(String node) {
        return !node.equals(self.name()) && cluster.nodes().stream().anyMatch(one -> one.name().equals(node));
    }

    /** Calls a node until it is known to have ended, and waits for the end of each connection. */
    private void hold(Peer peer, boolean wasThere) {
        if (!called.add(peer)) {
            return;
        }
        boolean isToBeThere = wasThere;
        boolean isNews = true;
        while (!isOver(peer)) {
            Optional<LivenessConnection> line = isToBeThere || silent.contains(peer) ? lookFor(peer) : call(peer);
            line.ifPresent(_ -> answered(peer));
            isToBeThere = line.isPresent() && follow(line.get());
            if (line.isPresent()) {
                isNews = true;
            } else if (!isOver(peer) && !silent.contains(peer)) {
                if (isNews) {
                    LOG.warn(
                            "node {} does not answer on {} over TCP: whether its process ends shows by its silence alone",
                            peer.node(), address(peer));
                    isNews = false;
                }
                pause(CALL_AGAIN);
            }
        }
        called.remove(peer);
    }

    private boolean isOver(Peer peer) {
        return isClosed || gone.contains(peer);
    }

    /** Waits for the end of a connection; returns whether it broke. */
    private boolean follow(LivenessConnection line) {
        Peer peer = line.hello().peer();
        open.add(line);
        if (isClosed) {
            line.sayGoodbye();
        }
        boolean saidGoodbye = line.awaitGoodbye();
        open.remove(line);
        if (saidGoodbye) {
            tell(peer, End.IN_ORDER, "it sent a goodbye");
        } else if (!isOver(peer)) {
            lookForAll(peer);
        }
        return !isOver(peer);
    }

    /** Handles a broken connection: if the node is silent, the other nodes are called at the same time. */
    private void lookForAll(Peer first) {
        if (!isKernelSilent(first, 1)) {
            return;
        }
        open.forEach(other -> Thread.ofVirtual().name("liveness-look").start(() -> {
            Peer peer = other.hello().peer();
            if (isKernelSilent(peer, KERNEL_QUESTIONS)) {
                fallSilent(peer);
                other.hangUpQuietly(); // its thread looks for the node from now on
            }
        }));
        if (isKernelSilent(first, KERNEL_QUESTIONS)) {
            fallSilent(first);
        }
    }

    private void fallSilent(Peer peer) {
        if (silent.add(peer)) {
            listener.onSilence(peer, true);
        }
    }

    /** Returns whether the machine of a node answers none of these calls; a refusal is an answer, and so is a full queue. */
    private boolean isKernelSilent(Peer peer, int questions) {
        for (int question = 0; question < questions; question++) {
            try (Socket call = new Socket()) {
                if (isCut) {
                    pause(KERNEL_ANSWER);
                    continue;
                }
                call.connect(address(peer), Math.toIntExact(KERNEL_ANSWER.toMillis()));
                return false;
            } catch (ConnectException | UnknownHostException _) {
                return false;
            } catch (IOException unanswered) {
                LOG.debug("the machine of node {} does not answer", peer.node(), unanswered);
            }
        }
        return !isOver(peer);
    }

    private void answered(Peer peer) {
        if (silent.remove(peer)) {
            listener.onSilence(peer, false);
        }
    }

    /** Makes a first call. A refusal proves nothing: a firewall may refuse, and the control plane has another port. */
    private Optional<LivenessConnection> call(Peer peer) {
        try {
            LivenessConnection line = dial(peer, GREETING);
            if (line.hello().peer().equals(peer)) {
                return Optional.of(line);
            }
            line.hangUp();
        } catch (IOException failure) {
            LOG.debug("node {} does not answer", peer.node(), failure);
        }
        return Optional.empty();
    }

    /** Returns a new connection to a process after its connection broke; empty if it has ended. */
    private Optional<LivenessConnection> lookFor(Peer peer) {
        long sinceNanos = System.nanoTime();
        while (!isOver(peer) && System.nanoTime() - sinceNanos < LOOKING.toNanos()) {
            try {
                LivenessConnection line = dial(peer, ANSWER);
                if (line.hello().peer().equals(peer)) {
                    return Optional.of(line);
                }
                line.hangUp();
                tell(peer, End.WITHOUT_A_WORD, "another process answers in its place");
            } catch (ConnectException _) {
                tell(peer, End.WITHOUT_A_WORD, "its connection closed and its port refuses another");
            } catch (IOException failure) {
                LOG.debug("node {} does not answer", peer.node(), failure);
                pause(BETWEEN_LOOKS);
            }
        }
        return Optional.empty();
    }

    private LivenessConnection dial(Peer peer, Duration patience) throws IOException {
        if (isCut) {
            pause(patience);
            throw new IOException("the network is cut");
        }
        LivenessConnection line = LivenessConnection.dial(port, address(peer), hello, sockets, patience);
        requireOther(line);
        return line;
    }

    /** Returns a node's address, resolved for each call, since a restarted pod has a new one. */
    private InetSocketAddress address(Peer peer) {
        NodeSpec node = cluster.node(peer.node());
        return new InetSocketAddress(node.host(), node.dataPort());
    }

    private void tell(Peer peer, End end, String seen) {
        if (gone.add(peer)) {
            listener.onEnd(peer, end, seen);
        }
    }

    private static void pause(Duration length) {
        LockSupport.parkNanos(length.toNanos());
    }
}
