package dev.troupe.wire;

import dev.troupe.transport.TransportSettings;
import io.aeron.Aeron;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client of a media driver. It survives the same pauses of a process as the driver.
 *
 * <p>Thread rule: the client of {@link #invoked} belongs to one thread, which calls {@link #invoke} in each round; the
 * client of {@link #withThread} to any thread.
 */
public final class DriverClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DriverClient.class);

    private final String user;
    private final Aeron aeron;
    private final AtomicReference<Throwable> lastError = new AtomicReference<>();

    private DriverClient(Path driverDirectory, String user, boolean isInvoked) {
        this.user = user;
        this.aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory.toString())
                .useConductorAgentInvoker(isInvoked)
                .driverTimeoutMs(TimeUnit.SECONDS.toMillis(TransportSettings.LIVENESS_TIMEOUT_SECONDS))
                .errorHandler(this::onError));
    }

    /**
     * Connects a client that does its housekeeping on its owner's thread.
     *
     * @param user the user's name in messages, as in "the Aeron client of the transport"
     * @throws io.aeron.exceptions.AeronException if no driver answers
     */
    public static DriverClient invoked(Path driverDirectory, String user) {
        return new DriverClient(driverDirectory, user, true);
    }

    /** Connects a client with a housekeeping thread of its own; otherwise as {@link #invoked}. */
    public static DriverClient withThread(Path driverDirectory, String user) {
        return new DriverClient(driverDirectory, user, false);
    }

    private void onError(Throwable error) {
        lastError.set(error);
        LOG.warn("the Aeron client of the {} reports an error: {}", user, error.toString());
        LOG.debug("where it came from", error);
    }

    /** Returns the client for streams; it is closed with this object. */
    public Aeron aeron() {
        return aeron;
    }

    /**
     * Does the housekeeping of an {@link #invoked} client; returns the amount of work.
     *
     * @throws IllegalStateException if the client has closed itself
     */
    public int invoke() {
        int work = aeron.conductorAgentInvoker().invoke();
        if (aeron.isClosed()) {
            throw new IllegalStateException("the Aeron client of the " + user + " has closed itself", lastError.get());
        }
        return work;
    }

    @Override
    public void close() {
        try {
            aeron.close();
        } catch (RuntimeException e) {
            LOG.warn("the Aeron client of the {} did not close cleanly", user, e);
        }
    }
}
