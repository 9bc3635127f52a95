package dev.troupe.config.spec;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings of the transport of activations and gradients.
 *
 * @param credits
 *            messages that may be in flight on one edge, at least 1
 * @param termLengthBytes
 *            length of a term of the stream between two nodes: a power of two from 1 MiB to 1 GiB, or 0 to have it
 *            follow from the size of the messages
 * @param timeout
 *            longest wait for a message before the run recovers, or fails where recovery is not enabled
 * @param directory
 *            absolute path of the media driver's directory; empty: chosen when the driver starts
 */
public record TransportSpec(int credits, int termLengthBytes, Duration timeout, Optional<Path> directory) {

    /** Refuses a missing part. */
    public TransportSpec {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(directory, "directory");
    }
}
