package dev.troupe.collective.peer;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.wire.DriverClient;
import io.aeron.Aeron;
import io.aeron.exceptions.AeronException;
import io.aeron.logbuffer.LogBufferDescriptor;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Groups of members in several JVMs: over the media driver that JVMs of one machine share, and over connections or
 * UDP between machines. One for a JVM.
 *
 * <p>Thread rule: any thread.
 */
public final class PeerCollectives implements AutoCloseable {
    /** Bytes of a stream in the directory of the media driver at each of its ends, once if both ends share it. */
    public static final long STREAM_BYTES = LogBufferDescriptor.computeLogLength(Ways.TERM_LENGTH,
            LogBufferDescriptor.PAGE_MIN_SIZE);

    private final Path driverDirectory;
    private final Optional<Connections> connections;
    private final List<PeerMember> members = new CopyOnWriteArrayList<>();
    /** Null until a member has a stream. */
    private DriverClient client;

    private PeerCollectives(Path driverDirectory, Optional<Connections> connections) {
        this.driverDirectory = driverDirectory;
        this.connections = connections;
    }

    /** As {@link #connect(Path, Optional)} without connections. */
    public static PeerCollectives connect(Path driverDirectory) {
        return connect(driverDirectory, Optional.empty());
    }

    /**
     * Makes groups over a media driver that runs, which is asked if a group has a stream.
     *
     * @param driverDirectory its directory, as {@link dev.troupe.transport.link.LinkTransport#driverDirectory}
     *     returns it
     * @param connections the connections of this node, which their owner closes; empty if no members are connected
     */
    public static PeerCollectives connect(Path driverDirectory, Optional<Connections> connections) {
        return new PeerCollectives(driverDirectory, connections);
    }

    private synchronized Aeron aeron() {
        if (client == null) {
            client = DriverClient.withThread(driverDirectory, "collectives");
        }
        return client.aeron();
    }

    /** Joins a member of a group with one media driver; see {@link #join(Membership, int, int, int, PairChannels)}. */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch) {
        return join(membership, number, member, epoch, PairChannels.ONE_MACHINE);
    }

    /**
     * Joins a member, without waiting for the others; the first collective waits.
     *
     * @param number number of the group: the same for all its members, and of no other group of their drivers
     * @param epoch the epoch of the member, at least 0
     * @param channels the channels between members
     * @throws CollectiveException if a channel cannot be opened
     */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch, PairChannels channels) {
        if (membership.size() > Membership.MOST_BETWEEN_PROCESSES) {
            throw new IllegalArgumentException("a group between JVMs has at most " + Membership.MOST_BETWEEN_PROCESSES
                    + " members, but " + membership.describe() + " has " + membership.size());
        }
        try {
            PeerMember joined = new PeerMember(membership, member, epoch,
                    taker -> new Ways(this::aeron, connections::orElseThrow, channels, number, membership.size(),
                            member, epoch, taker));
            members.removeIf(PeerMember::hasLeft);
            members.add(joined);
            return joined;
        } catch (AeronException refused) {
            throw new CollectiveException(membership.describe(member) + " cannot join " + membership.describe()
                    + " in epoch " + epoch + ": " + refused.getMessage()
                    + "; see that the address is of this machine and its port is free", OptionalInt.of(member),
                    refused);
        }
    }

    /** Disconnects; groups that are still open end. */
    @Override
    public void close() {
        members.forEach(member -> member.ways().end());
        synchronized (this) {
            if (client != null) {
                client.close();
            }
        }
    }
}
