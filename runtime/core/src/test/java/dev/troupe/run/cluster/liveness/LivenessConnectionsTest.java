package dev.troupe.run.cluster.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connections of a node, and a stand-in for the process of the other. */
@Timeout(60)
class LivenessConnectionsTest {
    private static final long UID = 7;
    private static final Peer OTHER = new Peer("b", 70);

    private record Told(Peer peer, End end) {
    }

    private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> silences = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private ClusterSpec cluster;

    @BeforeEach
    void findPorts() throws IOException {
        cluster = TwoNodes.find();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    private LivenessConnections start(String node, long uid) throws IOException {
        NodeSpec self = cluster.node(node);
        LivenessConnections connections = new LivenessConnections(cluster, self, Sockets.PLAIN,
                DataPort.open(new InetSocketAddress(self.host(), self.dataPort()), RunKey.open()));
        opened.add(connections);
        connections.begin(uid, new LivenessConnections.Listener() {
            @Override
            public void onEnd(Peer peer, End end, String seen) {
                told.add(new Told(peer, end));
            }

            @Override
            public void onSilence(Peer peer, boolean isSilent) {
                silences.add(peer.node() + (isSilent ? " is silent" : " answers"));
            }
        });
        return connections;
    }

    private StandIn standIn(String node, long uid) throws IOException {
        StandIn standIn = new StandIn(cluster, cluster.node(node), uid);
        opened.add(standIn);
        return standIn;
    }

    private void requireTold(Peer peer, End end) throws InterruptedException {
        assertEquals(new Told(peer, end), told.poll(20, TimeUnit.SECONDS));
        assertNull(told.peek(), "told once");
    }

    @Test
    void shouldNoticeTheEndOfAProcessThatItCalled() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        Socket line = b.awaitCall();
        b.close();
        line.close();
        requireTold(OTHER, End.WITHOUT_A_WORD);
    }

    @Test
    void shouldNoticeTheEndOfAProcessThatCalledIt() throws Exception {
        StandIn a = standIn("a", UID);
        start("b", OTHER.uid());
        Socket line = a.call(cluster.node("b"));
        a.close();
        line.close();
        requireTold(new Peer("a", UID), End.WITHOUT_A_WORD);
    }

    /** The port of a process that ends may outlive its connections by some milliseconds. */
    @Test
    void shouldLookAgainIfThePortClosesLast() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        b.awaitCall().close();
        Socket again = b.awaitCall();
        b.close();
        again.setSoLinger(true, 0); // a reset, which is what a process leaves that had not read all
        again.close();
        requireTold(OTHER, End.WITHOUT_A_WORD);
    }

    @Test
    void shouldReceiveAGoodbye() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        b.awaitCall().getOutputStream().write(LivenessConnection.GOODBYE);
        requireTold(OTHER, End.IN_ORDER);
    }

    @Test
    void shouldEndCallsOfBothDirectionsWithGoodbye() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        LivenessConnections a = start("a", UID);
        a.reach(OTHER);
        List<Socket> lines = List.of(b.awaitCall(), b.call(cluster.node("a")));
        a.close();
        for (Socket line : lines) {
            line.setSoTimeout(20_000);
            assertEquals(LivenessConnection.GOODBYE, line.getInputStream().read());
            assertEquals(-1, line.getInputStream().read());
        }
        assertNull(told.peek());
    }

    @Test
    void shouldCallAProcessAgainThatLivesStill() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        b.awaitCall().close();
        b.awaitCall().close();
        b.awaitCall();
        assertNull(told.peek());
    }

    @Test
    void shouldNotTakeAProcessThatWasStartedAgainForTheOneThatEnded() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        Socket line = b.awaitCall();
        b.becomes(71);
        line.close();
        requireTold(OTHER, End.WITHOUT_A_WORD);
    }

    @Test
    void shouldGetALivenessConnectionToTheProcessThatCameBack() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        LivenessConnections a = start("a", UID);
        a.reach(OTHER);
        Socket line = b.awaitCall();
        b.close();
        line.close();
        requireTold(OTHER, End.WITHOUT_A_WORD);
        a.forget(OTHER);
        StandIn back = standIn("b", 71);
        a.reach(new Peer("b", 71));
        Socket second = back.awaitCall();
        back.close();
        second.close();
        requireTold(new Peer("b", 71), End.WITHOUT_A_WORD);
    }

    /** A refusal means that a process has ended only if it was reached before: a firewall may refuse too. */
    @Test
    void shouldReportNothingAboutAProcessThatItNeverReached() throws Exception {
        start("a", UID).reach(OTHER);
        assertNull(told.poll(500, TimeUnit.MILLISECONDS));
        standIn("b", OTHER.uid()).awaitCall();
        assertNull(told.peek());
    }

    @Test
    void shouldRefuseStrangersAndContinue() throws Exception {
        start("b", OTHER.uid());
        NodeSpec b = cluster.node("b");
        for (byte[] first : List.of(new byte[0], "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                new byte[100_000])) {
            try (Socket stranger = new Socket(b.host(), b.dataPort())) {
                stranger.getOutputStream().write(first);
                stranger.shutdownOutput();
                requireRefused(stranger);
            }
        }
        requireRefused(new Hello("another", new Peer("a", UID)));
        requireRefused(new Hello(cluster.name(), new Peer("nobody", UID)));
        requireRefused(new Hello(cluster.name(), new Peer("b", UID)));
        StandIn a = standIn("a", UID);
        Socket line = a.call(b);
        a.close();
        line.close();
        requireTold(new Peer("a", UID), End.WITHOUT_A_WORD);
    }

    private void requireRefused(Hello hello) throws IOException {
        try (Socket stranger = new Socket(cluster.node("b").host(), cluster.node("b").dataPort())) {
            StandIn.greet(stranger, hello);
            requireRefused(stranger);
        }
    }

    /** Answers with a hello, and closes the connection then. */
    private static void requireRefused(Socket stranger) throws IOException {
        stranger.setSoTimeout(20_000);
        try {
            stranger.getInputStream().readAllBytes();
        } catch (SocketException _) {
            // Reset: there were more bytes than the other side would read.
        }
    }

    @Test
    void shouldNoticeThatAMachineDoesNotAnswerAndThenDoes() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        LivenessConnections a = start("a", UID);
        a.reach(OTHER);
        Socket line = b.awaitCall();
        a.cut(Duration.ofSeconds(4));
        assertEquals("b is silent", silences.poll(20, TimeUnit.SECONDS));
        assertEquals("b answers", silences.poll(20, TimeUnit.SECONDS));
        b.awaitCall();
        assertNull(told.peek(), "the process has not ended");
        line.close();
    }

    /** Its kernel takes calls that the process does not answer: it is stopped, or starved. */
    @Test
    void shouldNotTakeAStoppedProcessForASilentMachine() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        Socket line = b.awaitCall();
        b.stopAnswering();
        line.close();
        b.awaitUnanswered(3);
        assertNull(silences.peek());
        assertNull(told.peek());
    }

    /** By the kernel's questions on a connection that carries nothing. */
    @Test
    void shouldHaveTheKernelAskEverySecond() throws Exception {
        StandIn b = standIn("b", OTHER.uid());
        start("a", UID).reach(OTHER);
        b.awaitCall();
        try (Socket asked = new Socket("127.0.0.1", cluster.node("b").dataPort())) {
            LivenessConnection.watchOver(asked);
            assertTrue(asked.getKeepAlive());
            assertEquals(1, asked.getOption(ExtendedSocketOptions.TCP_KEEPIDLE));
            assertEquals(1, asked.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL));
            assertEquals(1, asked.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT));
        }
    }
}
