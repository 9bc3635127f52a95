package dev.troupe.transport.driver;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The media driver of a machine, shared by the transports of all its nodes. */
public final class SharedDriver implements AutoCloseable {
    private final DriverHandle driver;

    private SharedDriver(DriverHandle driver) {
        this.driver = driver;
    }

    /**
     * Starts the driver.
     *
     * @param nodes the maps of the nodes that will use it
     * @param otherBytes the bytes that other uses of the nodes need
     * @throws dev.troupe.transport.TransportException if the directory is in use or has too little space, or the driver does
     *     not start; no files remain
     */
    public static SharedDriver start(Path directory, List<NodeMap> nodes, long otherBytes,
            TransportSettings settings) {
        long bytes = nodes.stream().mapToLong(node -> streamBytes(node, 0, settings)).sum();
        return new SharedDriver(DriverHandle.start(Optional.of(directory), bytes + otherBytes, settings));
    }

    /**
     * Returns the bytes that the streams of a node's transport take in its driver's directory.
     *
     * @param since only streams opened in this epoch or later count
     */
    public static long streamBytes(NodeMap node, int since, TransportSettings settings) {
        return DriverHandle.streamBytes(node, since, settings);
    }

    /** Returns whether a driver runs in a directory; takes up to 10 seconds if it was just killed. */
    public static boolean isAtWork(Path directory) {
        return DriverDirectory.isAtWork(directory);
    }

    /** Deletes the files of a killed driver; the caller must know that it has ended. */
    public static void clear(Path directory) {
        DriverDirectory.delete(directory);
    }

    /** Returns the process of a directory's driver, if any. */
    public static OptionalLong processOf(Path directory) {
        return DriverDirectory.processOf(directory);
    }

    /** Returns whether a node uses the driver; a killed node counts for some seconds. */
    public boolean hasClients() {
        return driver.hasClients();
    }

    /** Stops the driver and deletes its directory, within a few seconds; clients that still use it are notified. */
    @Override
    public void close() {
        driver.close();
    }
}
