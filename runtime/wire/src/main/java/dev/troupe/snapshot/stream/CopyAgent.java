package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.CopyStore;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.snapshot.stream.CopyFrame.Part;
import dev.troupe.snapshot.stream.CopyFrame.Subject;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.wire.AgentThread;
import dev.troupe.wire.DriverClient;
import dev.troupe.wire.Mailbox;
import dev.troupe.wire.Rest;
import dev.troupe.wire.StreamIds;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.StreamWay;
import io.aeron.ChannelUriStringBuilder;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.exceptions.AeronException;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent of a node's copying thread. In each round it handles commands, sends a few frames to each node, and receives a
 * few.
 */
final class CopyAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(CopyAgent.class);
    private static final int FRAMES_PER_POLL = 16;

    /** A command of another thread. */
    sealed interface Command {
        record Send(int toNode, int receiverId, int rank, int stage, long stepsDone) implements Command {
        }

        record Forget(int node) implements Command {
        }
    }

    /** Empty if no other node is reached by a stream. */
    private final Optional<DriverClient> client;
    /** Empty if all other nodes are reached by streams. */
    private final Optional<Connections> connections;
    private final Rest rest = Rest.open();
    private final IncomingConnections arrivals;
    private final int receiverId;
    private final NodeMap nodes;
    private final CopyStore snapshots;
    private final SnapshotCopies.Listener listener;
    private final LiveCopyCounters counters;
    private final Mailbox<Command> commands = new Mailbox<>(rest);
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final Map<Integer, SnapshotSender> senders = new HashMap<>();
    /** The receivers of streams. */
    private final Map<Image, SnapshotReceiver> receivers = new IdentityHashMap<>();
    private final CopyFrame frame = new CopyFrame();
    private final FragmentHandler onFragment = this::onFragment;
    private final AgentThread thread;

    CopyAgent(NodeMap nodes, int receiverId, Optional<DriverClient> client, Optional<Connections> connections,
            CopyStore snapshots, SnapshotCopies.Listener listener, LiveCopyCounters counters) {
        this.nodes = nodes;
        this.receiverId = receiverId;
        this.client = client;
        this.snapshots = snapshots;
        this.listener = listener;
        this.counters = counters;
        this.connections = connections;
        this.arrivals = new IncomingConnections(rest, this::receiver);
        connections.ifPresent(made -> made.takeCopies(receiverId, arrivals));
        // Errors are caught too. Training would continue without copies, but a node that takes over a rank would have no new
        // ones.
        this.thread = new AgentThread(this, new CopyIdle(commands, connections.isPresent(), this::isBusy),
                error -> LOG.error("the copies of snapshots ended by an error", error));
    }

    AgentThread thread() {
        return thread;
    }

    @Override
    public String roleName() {
        return "troupe-copies";
    }

    /** Opens a channel for incoming copies, before the thread starts. */
    void listen(String channel) {
        subscriptions.add(
                client.orElseThrow().aeron().addSubscription(channel, StreamIds.ofCopies(receiverId), null,
                        this::onGone));
    }

    /** Submits a command, from any thread, and wakes this thread if it rests. */
    void submit(Command command) {
        if (thread.isRunning()) {
            commands.put(command);
        }
    }

    /** Asks the thread to end. */
    void stop() {
        thread.stop();
        commands.wake();
    }

    @Override
    public void onClose() {
        try {
            senders.values().forEach(SnapshotSender::close);
            arrivals.close();
            rest.close();
        } finally {
            client.ifPresent(DriverClient::close);
        }
    }

    @Override
    public int doWork() {
        int work = arrivals.poll();
        if (client.isPresent()) {
            work += client.get().invoke();
        }
        Command command;
        while ((command = commands.poll()) != null) {
            work++;
            take(command);
        }
        for (SnapshotSender sender : senders.values()) {
            work += sender.send();
        }
        senders.values().removeIf(SnapshotSender::isClosed);
        for (Subscription subscription : subscriptions) {
            work += subscription.poll(onFragment, FRAMES_PER_POLL);
        }
        return work;
    }

    private void take(Command command) {
        switch (command) {
            case Command.Send send -> offer(send);
            case Command.Forget forget -> {
                closeSender(forget.node());
                allReceivers().filter(receiver -> receiver.fromNode() == forget.node())
                        .forEach(SnapshotReceiver::silence);
            }
        }
    }

    private Stream<SnapshotReceiver> allReceivers() {
        return Stream.concat(receivers.values().stream(), arrivals.receivers().stream());
    }

    private SnapshotReceiver receiver() {
        return new SnapshotReceiver(snapshots, listener, this::decline, counters);
    }

    private void offer(Command.Send send) {
        sender(send.toNode(), send.receiverId())
                .ifPresent(sender -> sender.offer(send.rank(), send.stage(), send.stepsDone()));
    }

    private void decline(Subject offered, int itsReceiverId) {
        sender(offered.fromNode(), itsReceiverId).ifPresent(sender -> sender.decline(offered));
    }

    private Optional<SnapshotSender> sender(int node, int itsReceiverId) {
        SnapshotSender present = senders.get(node);
        if (present != null && !present.leadsTo(itsReceiverId)) {
            closeSender(node); // to a process before
        }
        try {
            return Optional.of(senders.computeIfAbsent(node, _ -> open(node, itsReceiverId)));
        } catch (AeronException refused) {
            LOG.warn("no copies can be sent to node {}: {}", node, refused.getMessage());
            return Optional.empty();
        }
    }

    private void closeSender(int node) {
        SnapshotSender sender = senders.remove(node);
        if (sender != null) {
            sender.close();
        }
    }

    private SnapshotSender open(int node, int itsReceiverId) {
        int self = nodes.self();
        boolean isOfMachine = nodes.shareMachine(self, node);
        FrameWay way = connections.isPresent() && !isOfMachine
                ? new Line(connections.get(), new LineName(node, LineName.Purpose.COPIES, itsReceiverId), 0, rest,
                        IncomingConnections.MAX_PAYLOAD, true)
                : stream(node, itsReceiverId);
        return new SnapshotSender(self, receiverId, itsReceiverId, way, snapshots, counters, isOfMachine);
    }

    private FrameWay stream(int node, int itsReceiverId) {
        String channel = new ChannelUriStringBuilder(nodes.channel(nodes.self(), node))
                .termLength(StreamedCopies.TERM_LENGTH).build();
        return new StreamWay(client.orElseThrow().aeron().addExclusivePublication(channel,
                StreamIds.ofCopies(itsReceiverId)));
    }

    private void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        SnapshotReceiver receiver = receivers.computeIfAbsent((Image) header.context(),
                _ -> receiver());
        if (frame.wrap(buffer, offset, length)) {
            take(receiver);
        } else {
            receiver.refuse("found " + length + " bytes that are no frame of this version");
        }
    }

    private void take(SnapshotReceiver receiver) {
        if (frame.part() != Part.DECLINED) {
            receiver.take(frame);
            return;
        }
        Subject declined = frame.subject();
        SnapshotSender sender = senders.get(declined.fromNode());
        if (sender != null && (int) declined.checksum().getValue() == frame.checksum()) {
            sender.onDeclined(declined);
        }
    }

    private void onGone(Image image) {
        SnapshotReceiver receiver = receivers.remove(image);
        if (receiver != null && receiver.isInProgress()) {
            receiver.refuse("its sender has gone");
        }
    }

    private boolean isBusy() {
        return senders.values().stream().anyMatch(SnapshotSender::isBusy)
                || allReceivers().anyMatch(SnapshotReceiver::isInProgress);
    }
}
