package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings of the transport of activations and gradients.
 *
 * @param credits messages that may be in flight on one edge, at least 1
 * @param termLengthBytes length of a term of the stream between two nodes: a power of two from 1 MiB to 1 GiB, or 0 to
 *     have it follow from the size of the messages
 * @param timeout longest wait for a message before the run recovers, or fails where recovery is not enabled
 * @param network the protocol of tensors between machines
 * @param directory absolute path of the media driver's directory; empty: chosen when the driver starts
 */
public record TransportSpec(int credits, int termLengthBytes, Duration timeout, Network network,
        Optional<Path> directory) {

    /** Refuses a missing part. */
    public TransportSpec {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(network, "network");
        Objects.requireNonNull(directory, "directory");
    }

    /** The protocols of tensors between machines. */
    public enum Network implements Word {
        /** A TCP connection for each two nodes, inside TLS where the cluster has it. */
        TCP("tcp"),
        /** Aeron's streams over UDP, in the clear. */
        UDP("udp");

        private final String word;

        Network(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
