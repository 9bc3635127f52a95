package dev.troupe.transport.driver;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The media driver of a machine, for the transports of all its nodes. */
public final class SharedDriver implements AutoCloseable {
    private final Driver driver;

    private SharedDriver(Driver driver) {
        this.driver = driver;
    }

    /**
     * Starts the driver.
     *
     * @param nodes the nodes that will use it, each as it sees the others
     * @param otherBytes bytes of other uses of the driver by the nodes
     * @param settings as the nodes have them
     * @throws dev.troupe.transport.TransportException if the directory is in use or has too little room, or the driver
     *     does not start; no files remain
     */
    public static SharedDriver start(Path directory, List<NodeMap> nodes, long otherBytes,
            TransportSettings settings) {
        long bytes = nodes.stream().mapToLong(node -> streamBytes(node, 0, settings)).sum();
        return new SharedDriver(Driver.start(Optional.of(directory), bytes + otherBytes, settings));
    }

    /**
     * Returns the bytes of a node's transport in the directory of its driver: the streams that it writes, and those
     * from other machines.
     *
     * @param since only streams opened in this epoch or later count
     */
    public static long streamBytes(NodeMap node, int since, TransportSettings settings) {
        return Driver.streamBytes(node, since, settings);
    }

    /**
     * Whether a driver runs in a directory; waits up to 10 seconds to see whether a driver was just killed.
     */
    public static boolean isAtWork(Path directory) {
        return DriverDirectory.isAtWork(directory);
    }

    /** Deletes the files of a killed driver in a directory; the caller must know that the driver has ended. */
    public static void clear(Path directory) {
        DriverDirectory.delete(directory);
    }

    /** Returns the process of the driver of a directory; empty if there is none. */
    public static OptionalLong processOf(Path directory) {
        return DriverDirectory.processOf(directory);
    }

    /** Whether a node uses the driver; a killed node counts until the driver misses it, after some seconds. */
    public boolean hasClients() {
        return driver.hasClients();
    }

    /** Stops the driver and deletes its directory; clients that still use it are notified. Waits a few seconds at most. */
    @Override
    public void close() {
        driver.close();
    }
}
