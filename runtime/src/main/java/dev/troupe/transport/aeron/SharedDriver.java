package dev.troupe.transport.aeron;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The media driver of a machine, for the transports of all the nodes that run there. */
public final class SharedDriver implements AutoCloseable {
    private final Driver driver;

    private SharedDriver(Driver driver) {
        this.driver = driver;
    }

    /**
     * Starts it.
     *
     * @param nodes
     *            the nodes that will use it, each as it sees the others
     * @param otherBytes
     *            of what else the nodes will use it for
     * @param settings
     *            as the nodes have them
     * @throws dev.troupe.transport.TransportException
     *             if the directory is in use or has too little room, or the driver does not start; nothing is left behind
     */
    public static SharedDriver start(Path directory, List<NodeMap> nodes, long otherBytes,
            TransportSettings settings) {
        long bytes = nodes.stream().mapToLong(node -> streamBytes(node, 0, settings)).sum();
        return new SharedDriver(Driver.start(Optional.of(directory), bytes + otherBytes, settings));
    }

    /**
     * Bytes that the transport of a node takes in the directory of its driver: the streams that it writes, and those
     * that come from other machines.
     *
     * @param since
     *            those that are opened in this epoch or later alone
     */
    public static long streamBytes(NodeMap node, int since, TransportSettings settings) {
        return Driver.streamBytes(node, since, settings);
    }

    /** Whether a driver is at work in a directory; waits up to 10 seconds to tell one that was just killed from it. */
    public static boolean isAtWork(Path directory) {
        return DriverDirectory.isAtWork(directory);
    }

    /** Deletes what a driver that was killed has left in a directory; for whoever knows that it has ended. */
    public static void clear(Path directory) {
        DriverDirectory.delete(directory);
    }

    /** The process of the driver of a directory; empty where there is none. */
    public static OptionalLong processOf(Path directory) {
        return DriverDirectory.processOf(directory);
    }

    /** Whether a node uses the driver; a killed node counts until the driver misses it, after some seconds. */
    public boolean hasClients() {
        return driver.hasClients();
    }

    /** Stops it and deletes its directory; whoever still uses it hears so. Waits a few seconds at most. */
    @Override
    public void close() {
        driver.close();
    }
}
