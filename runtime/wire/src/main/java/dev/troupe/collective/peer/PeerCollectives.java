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
 * The groups of one JVM with members in other JVMs: over the shared media driver within a machine, and over connections or
 * UDP between machines.
 *
 * <p>Thread rule: any thread.
 */
public final class PeerCollectives implements AutoCloseable {
    /** The bytes of a stream in the media driver's directory at each of its ends; once if both share the driver. */
    public static final long STREAM_BYTES = LogBufferDescriptor.computeLogLength(Ways.TERM_LENGTH,
            LogBufferDescriptor.PAGE_MIN_SIZE);

    private final Path driverDirectory;
    private final Optional<Connections> connections;
    private final List<PeerMember> members = new CopyOnWriteArrayList<>();
    /** Null until a member needs a stream. */
    private DriverClient client;

    private PeerCollectives(Path driverDirectory, Optional<Connections> connections) {
        this.driverDirectory = driverDirectory;
        this.connections = connections;
    }

    public static PeerCollectives connect(Path driverDirectory) {
        return connect(driverDirectory, Optional.empty());
    }

    /**
     * Creates the groups of this JVM. The media driver is used only if a group has a stream.
     *
     * @param driverDirectory the directory of the running driver, see {@link
     *     dev.troupe.transport.link.LinkTransport#driverDirectory}
     * @param connections the connections of this node, closed by their owner; empty if members use streams only
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

    /** Joins as a member of a group within one media driver; see {@link #join(Membership, int, int, int, PairChannels)}. */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch) {
        return join(membership, number, member, epoch, PairChannels.ONE_MACHINE);
    }

    /**
     * Joins as a member, without waiting for the others; the first collective waits.
     *
     * @param number the number of the group, unique among the groups of the members' drivers
     * @param epoch the epoch of the member, at least 0
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

    /** Disconnects, and ends groups that are still open. */
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
