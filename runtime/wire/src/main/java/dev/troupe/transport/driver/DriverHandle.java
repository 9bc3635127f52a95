package dev.troupe.transport.driver;

import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import dev.troupe.wire.AgentThread;
import io.aeron.driver.Configuration;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.LogBufferDescriptor;
import io.aeron.status.HeartbeatTimestamp;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handle on the media driver of a node: embedded in this process, with one thread and a directory that is deleted with it,
 * or run by another process.
 */
public final class DriverHandle implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DriverHandle.class);
    /** Greater than the liveness timeout, as Aeron requires. */
    private static final long UNBLOCK_TIMEOUT_SECONDS = TransportSettings.LIVENESS_TIMEOUT_SECONDS + 30;
    /** The largest frame over IPC: it has three times the throughput of Aeron's 1408 bytes, and fits a level 2 cache. */
    private static final int IPC_MTU_LENGTH = Configuration.MAX_UDP_PAYLOAD_LENGTH;
    /** Space for a few thousand counters; a node uses some twenty. */
    private static final int COUNTER_VALUES_LENGTH = 1 << 20;
    private static final int LOSS_REPORT_LENGTH = 1 << 20;
    /** Counters with their labels (five times the values), error log, loss report and command rings, rounded up. */
    private static final long OWN_FILES_LENGTH = 16L << 20;
    private static final long CLOSE_TIMEOUT_SECONDS = 5;

    private final Path directory;
    /** Empty if another process runs the driver. */
    private final Optional<MediaDriver> mediaDriver;
    /**
     * Deletes the driver's files if the process exits without closing it, as after a second Ctrl-C. The driver itself ends
     * with the process, since a program's own shutdown hook may still bring its run to a checkpoint.
     */
    private final Thread atExit = new Thread(this::deleteFiles, "troupe-media-driver-at-exit");

    private DriverHandle(Path directory, Optional<MediaDriver> mediaDriver) {
        this.directory = directory;
        this.mediaDriver = mediaDriver;
        if (mediaDriver.isPresent()) {
            Runtime.getRuntime().addShutdownHook(atExit);
        }
    }

    /**
     * Finds the shared driver, or starts one.
     *
     * @throws TransportException if the shared driver is missing, or the own one cannot start; no files remain
     */
    public static DriverHandle of(NodeMap nodes, TransportSettings settings) {
        if (!settings.sharesDriver()) {
            return start(settings.directory(), streamBytes(nodes, 0, settings), settings);
        }
        Path directory = settings.directory().orElseThrow();
        if (!DriverDirectory.isInUse(directory)) {
            throw new TransportException("a media driver was expected in " + directory
                    + ", but none is at work there; start it, or all the nodes of this machine with launch");
        }
        return new DriverHandle(directory, Optional.empty());
    }

    /**
     * Starts the driver of a machine, which the transports of all its nodes share.
     *
     * @param nodes the maps of the nodes that will use it
     * @param otherBytes the bytes that other uses of the nodes need
     * @throws TransportException if the directory is in use or has too little space, or the driver does not start; no files
     *     remain
     */
    public static DriverHandle startShared(Path directory, List<NodeMap> nodes, long otherBytes,
            TransportSettings settings) {
        long bytes = nodes.stream().mapToLong(node -> streamBytes(node, 0, settings)).sum();
        return start(Optional.of(directory), bytes + otherBytes, settings);
    }

    /** Starts a driver in a directory, by default a new one, with space for {@code streamBytes}. */
    public static DriverHandle start(Optional<Path> wanted, long streamBytes, TransportSettings settings) {
        // Troupe's error handlers receive all errors; Aeron would also print those without a handler.
        if (System.getProperty("aeron.fallback.logger") == null) {
            System.setProperty("aeron.fallback.logger", "no_op");
        }
        Path directory = DriverDirectory.choose(wanted, OWN_FILES_LENGTH + streamBytes);
        try {
            MediaDriver launched = MediaDriver.launch(context(directory, settings));
            DriverDirectory.hide(directory);
            return new DriverHandle(directory, Optional.of(launched));
        } catch (Exception e) { // Agrona throws undeclared ones of files too
            DriverDirectory.delete(directory);
            throw new TransportException("the media driver of the transport did not start in " + directory + ": "
                    + e.getMessage() + "; transport.directory can name another place", e);
        }
    }

    /**
     * Returns the bytes that a node's streams take in its driver's directory: all outgoing ones and, over UDP, the incoming
     * ones of other machines.
     *
     * @param since only streams opened in this epoch or later count
     */
    public static long streamBytes(NodeMap nodes, int since, TransportSettings settings) {
        int self = nodes.self();
        long bytes = 0;
        for (int peer : nodes.peers()) {
            if (nodes.streamsSince(self, peer) < since) {
                continue;
            }
            if (peer == self) {
                bytes += logBytes(settings.termLength());
            } else if (nodes.shareMachine(self, peer)) {
                bytes += logBytes(TransportSettings.HEADER_TERM_LENGTH) + settings.ringFileBytes();
            } else if (settings.network() == Network.UDP) {
                bytes += 2 * logBytes(settings.termLength());
            }
        }
        return bytes;
    }

    private static long logBytes(int termLength) {
        return LogBufferDescriptor.computeLogLength(termLength, LogBufferDescriptor.PAGE_MIN_SIZE);
    }

    private static MediaDriver.Context context(Path directory, TransportSettings settings) {
        return new MediaDriver.Context().aeronDirectoryName(directory.toString()).dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true).warnIfDirectoryExists(false).threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(idle()).asyncExecutorIdleStrategy(idle())
                .sharedThreadFactory(daemon("troupe-media-driver"))
                .asyncExecutorThreadFactory(daemon("troupe-media-driver-tasks"))
                .ipcTermBufferLength(settings.termLength()).publicationTermBufferLength(settings.termLength())
                .ipcMtuLength(IPC_MTU_LENGTH)
                // A sparse file on a full /dev/shm kills the process (SIGBUS) at its first touch; a written file fails here.
                .termBufferSparseFile(false).counterValuesBufferLength(COUNTER_VALUES_LENGTH)
                .lossReportBufferLength(LOSS_REPORT_LENGTH)
                .clientLivenessTimeoutNs(TimeUnit.SECONDS.toNanos(TransportSettings.LIVENESS_TIMEOUT_SECONDS))
                .publicationUnblockTimeoutNs(TimeUnit.SECONDS.toNanos(UNBLOCK_TIMEOUT_SECONDS))
                .errorHandler(error -> LOG.warn("the media driver reports an error", error));
    }

    private static IdleStrategy idle() {
        return new BackoffIdleStrategy(10, 10, TimeUnit.MICROSECONDS.toNanos(50),
                TimeUnit.MICROSECONDS.toNanos(TransportSettings.MAX_DRIVER_SLEEP_MICROS));
    }

    private static ThreadFactory daemon(String name) {
        return Thread.ofPlatform().name(name).daemon().factory();
    }

    /** Returns the driver's directory, which other processes of the machine use. */
    public Path directory() {
        return directory;
    }

    /** Returns the directory of rings between processes of the machine, which may not exist yet. */
    public Path rings() {
        return directory.resolve(DriverDirectory.RINGS);
    }

    /**
     * Returns whether a client uses the driver, if this process runs it. A killed client counts until its heartbeat is
     * missed.
     */
    public boolean hasClients() {
        AtomicBoolean found = new AtomicBoolean();
        mediaDriver.ifPresent(driver -> driver.context().countersManager()
                .forEach((_, type, _, _) -> found.compareAndSet(false, type == HeartbeatTimestamp.HEARTBEAT_TYPE_ID)));
        return found.get();
    }

    /**
     * Stops a driver of this process and deletes its directory, within a few seconds; clients that still use it are
     * notified.
     */
    @Override
    public void close() {
        if (mediaDriver.isEmpty()) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException _) {
            return; // the process exits, and the driver ends with it
        }
        stop();
    }

    private void deleteFiles() {
        DriverDirectory.delete(directory);
    }

    private void stop() {
        MediaDriver embedded = mediaDriver.orElseThrow();
        // On a thread of its own, since Aeron's close waits for its thread without a limit.
        Thread closer = Thread.ofPlatform().name("troupe-media-driver-close").daemon().start(() -> {
            try {
                embedded.close();
            } catch (RuntimeException e) {
                LOG.warn("the media driver did not close cleanly", e);
            }
        });
        if (!AgentThread.joinedInTime(closer, CLOSE_TIMEOUT_SECONDS)) {
            LOG.warn("the media driver did not end within {} seconds; closing without it", CLOSE_TIMEOUT_SECONDS);
        }
        deleteFiles();
    }
}
