package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The settings of the transport: the section {@code transport} of the defaults.
 *
 * @param termLengthBytes a power of two from 1 MiB to 1 GiB; 0: derived from the size of the messages
 * @param directory absolute path of the media driver's directory; empty: chosen when the driver starts
 */
public record TransportSpec(int credits, int termLengthBytes, Duration timeout, Network network,
        Optional<Path> directory) {

    private static final int MOST_CREDITS = 1024;
    private static final int SHORTEST_TERM_BYTES = 1 << 20;
    private static final int LONGEST_TERM_BYTES = 1 << 30;

    public TransportSpec {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(network, "network");
        Objects.requireNonNull(directory, "directory");
    }

    public static TransportSpec read(Values values) {
        return new TransportSpec(values.integer("transport.credits", 1, MOST_CREDITS),
                values.powerOfTwoBytes("transport.term-length", SHORTEST_TERM_BYTES, LONGEST_TERM_BYTES),
                values.duration("transport.timeout", Duration.ofMillis(100), Duration.ofHours(24)),
                values.word("transport.network", Network.class, ""),
                Optional.ofNullable(values.path("transport.directory", Set.of(""))));
    }

    /** The protocols of tensors between machines. */
    public enum Network implements Word {
        /** A TCP connection for each pair of nodes, inside TLS if the cluster has certificates. */
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
