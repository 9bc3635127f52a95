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
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The media driver: one thread for all its work, and a directory that is deleted with it. The driver is embedded in
 * this process, or runs in another one.
 */
public final class Driver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Driver.class);
    /** Aeron requires it to be greater than the liveness timeout. */
    private static final long UNBLOCK_TIMEOUT_SECONDS = TransportSettings.LIVENESS_TIMEOUT_SECONDS + 30;
    /** The largest frame over IPC: three times the throughput of Aeron's 1408 bytes, and it still fits a level 2 cache. */
    private static final int IPC_MTU_LENGTH = Configuration.MAX_UDP_PAYLOAD_LENGTH;
    /** Enough for a few thousand counters; a node uses some twenty. */
    private static final int COUNTER_VALUES_LENGTH = 1 << 20;
    private static final int LOSS_REPORT_LENGTH = 1 << 20;
    /** Counters with their labels (five times the values), error log, loss report, command rings; rounded up. */
    private static final long OWN_FILES_LENGTH = 16L << 20;
    private static final long CLOSE_TIMEOUT_SECONDS = 5;

    private final Path directory;
    /** Empty if another process runs the driver. */
    private final Optional<MediaDriver> mediaDriver;
    /**
     * Deletes the files of the driver if the process exits without closing it, as after a second Ctrl-C. The driver
     * itself ends with the process: until then a program's own hook may still bring its run to a checkpoint.
     */
    private final Thread atExit = new Thread(this::deleteFiles, "troupe-media-driver-at-exit");

    private Driver(Path directory, Optional<MediaDriver> mediaDriver) {
        this.directory = directory;
        this.mediaDriver = mediaDriver;
        if (mediaDriver.isPresent()) {
            Runtime.getRuntime().addShutdownHook(atExit);
        }
    }

    /**
     * Finds the shared driver, or starts one.
     *
     * @throws TransportException if there is no driver, or the directory cannot be used, or the driver does not start;
     *     no files remain
     */
    public static Driver of(NodeMap nodes, TransportSettings settings) {
        if (!settings.sharesDriver()) {
            return start(settings.directory(), streamBytes(nodes, 0, settings), settings);
        }
        Path directory = settings.directory().orElseThrow();
        if (!DriverDirectory.isInUse(directory)) {
            throw new TransportException("a media driver was expected in " + directory
                    + ", but none is at work there; start it, or all the nodes of this machine with launch");
        }
        return new Driver(directory, Optional.empty());
    }

    /** Starts a driver in a directory, or in one of this process's own, which must have room for {@code streamBytes}. */
    public static Driver start(Optional<Path> wanted, long streamBytes, TransportSettings settings) {
        // Aeron prints errors without a handler to stderr; Troupe's error handlers receive them.
        if (System.getProperty("aeron.fallback.logger") == null) {
            System.setProperty("aeron.fallback.logger", "no_op");
        }
        Path directory = DriverDirectory.choose(wanted, OWN_FILES_LENGTH + streamBytes);
        try {
            MediaDriver launched = MediaDriver.launch(context(directory, settings));
            DriverDirectory.hide(directory);
            return new Driver(directory, Optional.of(launched));
        } catch (Exception e) { // Agrona throws undeclared ones of files too
            DriverDirectory.delete(directory);
            throw new TransportException("the media driver of the transport did not start in " + directory + ": "
                    + e.getMessage() + "; transport.directory can name another place", e);
        }
    }

    /**
     * Returns the bytes of a node in the directory of its driver since an epoch: all streams on which it sends, and
     * those from other machines, if these go over UDP.
     */
    static long streamBytes(NodeMap nodes, int since, TransportSettings settings) {
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
                // A sparse file on a full /dev/shm ends the process with SIGBUS at the first touch; a written file
                // fails here.
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

    /** Returns the directory in which other processes of the machine find the driver. */
    public Path directory() {
        return directory;
    }

    /** Returns the directory of the rings between processes of the machine, which need not be there. */
    public Path rings() {
        return directory.resolve(DriverDirectory.RINGS);
    }

    /**
     * Whether a client uses the driver, if this process runs it. A killed client counts until its heartbeat is missed.
     */
    boolean hasClients() {
        AtomicBoolean found = new AtomicBoolean();
        mediaDriver.ifPresent(driver -> driver.context().countersManager()
                .forEach((_, type, _, _) -> found.compareAndSet(false, type == HeartbeatTimestamp.HEARTBEAT_TYPE_ID)));
        return found.get();
    }

    /** Stops the driver and deletes its directory, if this process runs it; waits a few seconds at most. */
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
        // Aeron's own close waits for its thread without a limit, so it runs on a thread of its own, with a limit.
        Thread closer = Thread.ofPlatform().name("troupe-media-driver-close").daemon().start(() -> {
            try {
                embedded.close();
            } catch (RuntimeException e) {
                LOG.warn("the media driver did not close cleanly", e);
            }
        });
        if (!AgentThread.joinedInTime(closer, CLOSE_TIMEOUT_SECONDS)) {
            LOG.warn("the media driver did not end within {} seconds; going on without it", CLOSE_TIMEOUT_SECONDS);
        }
        deleteFiles();
    }
}
