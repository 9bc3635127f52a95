package dev.troupe.collective.aeron;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.transport.TransportSettings;
import io.aeron.Aeron;
import io.aeron.exceptions.AeronException;
import io.aeron.logbuffer.LogBufferDescriptor;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups whose members are in several JVMs: over the media driver that JVMs of one machine share, and over UDP between
 * machines. One for a JVM.
 *
 * <p>Thread rule: any thread.
 */
public final class AeronCollectives implements AutoCloseable {
    /** The most members of a group, which has a bit of a word for each. */
    public static final int MOST_MEMBERS = 64;
    /** Bytes of a stream in the directory of the media driver at each of its ends, once where both ends share it. */
    public static final long STREAM_BYTES = LogBufferDescriptor.computeLogLength(Streams.TERM_LENGTH,
            LogBufferDescriptor.PAGE_MIN_SIZE);
    private static final Logger LOG = LoggerFactory.getLogger(AeronCollectives.class);

    private final Aeron aeron;

    private AeronCollectives(Aeron aeron) {
        this.aeron = aeron;
    }

    /**
     * Connects to a media driver that runs.
     *
     * @param driverDirectory
     *            its directory, as {@link dev.troupe.transport.aeron.AeronTransport#driverDirectory} returns it
     */
    public static AeronCollectives connect(Path driverDirectory) {
        return new AeronCollectives(Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory.toString())
                .driverTimeoutMs(TimeUnit.SECONDS.toMillis(TransportSettings.LIVENESS_TIMEOUT_SECONDS))
                .errorHandler(error -> LOG.warn("the Aeron client of the collectives reports an error", error))));
    }

    /**
     * Joins a member of a group whose members all share this media driver; see {@link #join(Membership, int, int, int,
     * PairChannels)}.
     */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch) {
        return join(membership, number, member, epoch, PairChannels.ONE_MACHINE);
    }

    /**
     * Joins a member, without waiting for the others; the first collective waits.
     *
     * @param number
     *            number of the group: the same for all its members, and of no other group of their drivers
     * @param epoch
     *            the epoch of the member, at least 0
     * @param channels
     *            the channels between members
     * @throws CollectiveException
     *             if a channel cannot be opened
     */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch, PairChannels channels) {
        if (membership.size() > MOST_MEMBERS) {
            throw new IllegalArgumentException("a group between JVMs has at most " + MOST_MEMBERS + " members, but "
                    + membership.describe() + " has " + membership.size());
        }
        try {
            return new AeronMember(membership, member, epoch,
                    new Streams(aeron, channels, number, membership.size(), member, epoch));
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
        aeron.close();
    }
}
