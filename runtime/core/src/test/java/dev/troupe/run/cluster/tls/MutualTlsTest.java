package dev.troupe.run.cluster.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.run.cluster.liveness.Sockets;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.transport.tcp.Relay;
import dev.troupe.transport.tcp.Security;
import dev.troupe.wire.Rest;
import dev.troupe.wire.way.FrameReader;
import dev.troupe.wire.way.Outcome;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates as openssl makes them. */
@Tag("real")
class MutualTlsTest {
    @TempDir
    private static Path directory;

    @BeforeAll
    static void makeCertificates() throws IOException, InterruptedException {
        for (String authority : new String[]{"ours", "theirs"}) {
            run("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=" + authority + " -keyout " + authority
                    + ".key -out " + authority + ".crt");
        }
        sign("node", "ours");
        sign("other", "ours");
        sign("stranger", "theirs");
    }

    /** A certificate that is for itself, and one for stranger that claims to be for node. */
    private static void sign(String name, String authority) throws IOException, InterruptedException {
        run("openssl req -newkey rsa:2048 -nodes -subj /CN=" + (name.equals("stranger") ? "node" : name) + " -keyout "
                + name + ".key -out " + name + ".csr");
        run("openssl x509 -req -in " + name + ".csr -CA " + authority + ".crt -CAkey " + authority
                + ".key -CAcreateserial -days 2 -out " + name + ".crt");
    }

    private static void run(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command.split(" ")).directory(directory.toFile())
                .redirectErrorStream(true).redirectOutput(directory.resolve("openssl.log").toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), Files.readString(directory.resolve("openssl.log")));
    }

    private Sockets tls(String certificate, String authority) {
        return new MutualTls(new TlsSpec(directory.resolve(certificate + ".crt"),
                directory.resolve(certificate + ".key"), directory.resolve(authority + ".crt")));
    }

    /** Whether both sides take each other, with a byte each way. */
    private static boolean connects(Sockets caller, Sockets called) throws Exception {
        return connects(caller, called, 20_000);
    }

    /** @param millis for which either side waits for the other's next byte */
    private static boolean connects(Sockets caller, Sockets called, int millis) throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                Socket calling = new Socket("127.0.0.1", port.getLocalPort());
                Socket accepted = port.accept()) {
            calling.setSoTimeout(millis);
            accepted.setSoTimeout(millis);
            CompletableFuture<Boolean> answered = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> answered.complete(exchanges(() -> called.accepted(accepted), accepted)));
            return exchanges(() -> caller.dialed(calling), calling) & answered.get(30, TimeUnit.SECONDS);
        }
    }

    private interface Handshake {
        Socket shake() throws IOException;
    }

    private static boolean exchanges(Handshake handshake, Socket connection) {
        try (connection; Socket secure = handshake.shake()) {
            secure.getOutputStream().write(1);
            return secure.getInputStream().read() == 1;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void shouldTakeACertificateOfTheSameAuthorityWithANameInCommonOnly() throws Exception {
        Sockets node = tls("node", "ours");
        assertTrue(connects(node, node));
        assertFalse(connects(tls("other", "ours"), node));
        assertFalse(connects(node, tls("other", "ours")));
        assertFalse(connects(tls("stranger", "ours"), node));
        assertFalse(connects(node, tls("stranger", "ours")));
        // One byte is no greeting: the node waits for the rest of it until its time is over.
        assertFalse(connects(Sockets.PLAIN, node, 500));
    }

    /** Whether two nodes with a cable between them make a connection; carries a payload on it. */
    private static boolean carries(Optional<Security> caller, Optional<Security> called, Relay relay, byte[] payload,
            Sink sink, int patienceSeconds) throws IOException {
        List<Endpoint> endpoints = List.of(new Endpoint("127.0.0.1", 0), new Endpoint("127.0.0.2", relay.port()));
        NodeMap here = new NodeMap(0, List.of(0, 1), endpoints, Set.of(1));
        NodeMap there = new NodeMap(1, List.of(0, 1), endpoints, Set.of(0));
        try (Connections one = new Connections(here,
                DataPort.open(new InetSocketAddress("127.0.0.1", 0), RunKey.open()),
                caller);
                Connections other = new Connections(there, DataPort.open(relay.target(), RunKey.open()), called);
                Rest rest = Rest.open()) {
            try (Line far = new Line(other, LineName.tensors(0), 0, rest, FrameStream.MOST_PAYLOAD, false);
                    Line near = new Line(one, LineName.tensors(1), 0, rest, FrameStream.MOST_PAYLOAD, false);
                    Arena arena = Arena.ofConfined()) {
                if (!isReady(near, sink, patienceSeconds) || !isReady(far, sink, patienceSeconds)) {
                    return false;
                }
                assertEquals(Outcome.ACCEPTED, near.tryClaim(Long.BYTES, payload.length));
                near.buffer().putLong(near.offset(), 7);
                near.commit(arena.allocateFrom(ValueLayout.JAVA_BYTE, payload), 0);
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                while (!sink.isWhole) {
                    assertTrue(deadline - System.nanoTime() > 0, "not within 30 seconds");
                    near.flush();
                    far.poll(sink, Integer.MAX_VALUE);
                }
                return true;
            }
        }
    }

    private static boolean isReady(Line line, Sink sink, int patienceSeconds) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
        while (!line.isConnected() && deadline - System.nanoTime() > 0) {
            LockSupport.parkNanos(1_000_000);
            line.poll(sink, Integer.MAX_VALUE);
        }
        return line.isConnected();
    }

    /** A payload as it arrives. */
    private static final class Sink implements FrameReader {
        private final byte[] bytes;
        private boolean isWhole;

        Sink(int length) {
            bytes = new byte[length];
        }

        @Override
        public void onLost(long from, long to) {
            throw new IllegalStateException("it is the first connection");
        }

        @Override
        public MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) {
            assertEquals(7, buffer.getLong(offset));
            return MemorySegment.ofArray(bytes);
        }

        @Override
        public boolean isWanted() {
            return true;
        }

        @Override
        public void onPayload(boolean fits) {
            isWhole = fits;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCarryTensorsThatNobodyReadsOnTheWay(boolean isEncrypted) throws Exception {
        String secret = "weights of a model";
        byte[] payload = secret.repeat(10_000).getBytes(StandardCharsets.US_ASCII);
        Optional<Security> security = isEncrypted ? security("node", "ours") : Optional.empty();
        try (Relay relay = new Relay("127.0.0.2", freePort())) {
            relay.lookFor(secret);
            Sink sink = new Sink(payload.length);
            assertTrue(carries(security, security, relay, payload, sink, 30));
            assertArrayEquals(payload, sink.bytes);
            assertTrue(relay.carried() > payload.length);
            assertEquals(!isEncrypted, relay.hasFound());
        }
    }

    @Test
    void shouldMakeNoConnectionForTensorsToAStranger() throws Exception {
        try (Relay relay = new Relay("127.0.0.2", freePort())) {
            assertFalse(carries(security("stranger", "theirs"), security("node", "ours"), relay, new byte[1],
                    new Sink(1), 2));
        }
    }

    private Optional<Security> security(String certificate, String authority) {
        return Optional.of((MutualTls) tls(certificate, authority));
    }

    private static InetSocketAddress freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
            return new InetSocketAddress("127.0.0.2", free.getLocalPort());
        }
    }
}
