package dev.troupe.collective.aeron;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import io.aeron.Aeron;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups whose members live in several JVMs of one machine, over the media driver that they share. One for a JVM.
 *
 * <p>Thread rule: any thread.
 */
public final class AeronCollectives implements AutoCloseable {
    /** The most members of a group: one bit each of a word. */
    public static final int MOST_MEMBERS = 64;
    private static final Logger LOG = LoggerFactory.getLogger(AeronCollectives.class);

    private final Aeron aeron;

    private AeronCollectives(Aeron aeron) {
        this.aeron = aeron;
    }

    /**
     * Connects to a media driver that runs.
     *
     * @param driverDirectory
     *            where it keeps its files, as {@link dev.troupe.transport.aeron.AeronTransport#driverDirectory} says
     */
    public static AeronCollectives connect(Path driverDirectory) {
        return new AeronCollectives(Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory.toString())
                .errorHandler(error -> LOG.warn("the Aeron client of the collectives reports an error", error))));
    }

    /**
     * Joins a member and waits for all others.
     *
     * @param number
     *            of the group: the same for all its members, and of no other group of the driver
     * @param epoch
     *            the epoch the member is of, at least 0
     * @throws dev.troupe.collective.CollectiveException
     *             if a member does not come within the deadline, or a later epoch has begun
     */
    public CollectiveGroup join(Membership membership, int number, int member, int epoch) {
        if (membership.size() > MOST_MEMBERS) {
            throw new IllegalArgumentException("a group between JVMs has at most " + MOST_MEMBERS + " members, but "
                    + membership.describe() + " has " + membership.size());
        }
        Streams streams = new Streams(aeron, number, membership.size(), member, epoch);
        AeronMember joined = new AeronMember(membership, member, epoch, streams);
        try {
            joined.join();
            return joined;
        } catch (RuntimeException failed) {
            joined.close();
            throw failed;
        }
    }

    /** Disconnects; groups that are still open come to their ends. */
    @Override
    public void close() {
        aeron.close();
    }
}
