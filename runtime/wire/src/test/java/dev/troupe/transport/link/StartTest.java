package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.peer.Host;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

@Tag("real")
@Timeout(120)
class StartTest {
    @TempDir
    Path folder;

    private static TransportSettings in(Path directory) {
        return new TransportSettings(Optional.of(directory), 1 << 20, Duration.ofMillis(300));
    }

    private static String refusal(NodeMap nodes, TransportSettings settings) {
        return assertThrows(TransportException.class, () -> LinkTransport.start(nodes, settings)).getMessage();
    }

    @Test
    void shouldRefuseADirectoryInUse() {
        Path directory = folder.resolve("driver");
        try (LinkTransport first = LinkTransport.start(NodeMap.single(1), in(directory))) {
            String sentence = refusal(NodeMap.single(1), in(directory));
            assertTrue(sentence.contains("transport.directory " + directory + " is in use"), sentence);
            first.register(0, new Ear());
            assertEquals(List.of(), Samples.pending(first), "the first one continues");
            assertTrue(Files.exists(directory));
        }
        assertFalse(Files.exists(directory));
    }

    @Test
    void shouldNotTouchADirectoryOfOthers() throws IOException {
        Path precious = Files.writeString(folder.resolve("thesis.txt"), "years of work");
        assertTrue(refusal(NodeMap.single(1), in(folder)).contains("thesis.txt"));
        assertTrue(refusal(NodeMap.single(1), in(precious)).contains("is a file"));
        assertEquals("years of work", Files.readString(precious));
    }

    @Test
    void shouldReplaceTheDirectoryOfAKilledRun() throws IOException {
        Path directory = Files.createDirectories(folder.resolve("driver/publications")).getParent();
        Files.write(directory.resolve("cnc.dat"), new byte[100]);
        LinkTransport.start(NodeMap.single(1), in(directory)).close();
        assertFalse(Files.exists(directory));
    }

    @Test
    void shouldNeedThreeTermsForEachStream() {
        TransportSettings settings = TransportSettings.defaults().over(Network.UDP);
        long one = DriverHandle.streamBytes(NodeMap.single(8), 0, settings);
        long two = DriverHandle.streamBytes(two(0, 1, 2), 0, settings);
        assertEquals(3, one / settings.termLength());
        assertEquals(9, two / settings.termLength(), "out, in, and to itself");
        assertEquals(one, DriverHandle.streamBytes(two(0, 1, 2), 0, settings.over(Network.TCP)), "to itself");
        Endpoint here = new Endpoint("127.0.0.1", 0);
        NodeMap onOneMachine = new NodeMap(0, List.of(0, 1, 2), List.of(here, here, here), Set.of(1, 2));
        long ring = (DriverHandle.streamBytes(onOneMachine, 0, settings) - one) / 2;
        assertEquals(settings.ringBytes() + 3 * TransportSettings.HEADER_TERM_LENGTH + 2 * 4096, ring,
                "what it reads is another's on the machine");
        NodeMap moved = onOneMachine.moved(1, List.of(0, 1, 1), Set.of(1));
        assertEquals(ring, DriverHandle.streamBytes(moved, 1, settings), "that to node 1 alone");
    }

    @Test
    void shouldLeaveNothingWhenAStartFailsHalfway() throws IOException {
        Path directory = folder.resolve("driver");
        try (DatagramSocket taken = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            var nodes = two(0, taken.getLocalPort(), 1);
            String sentence = refusal(nodes, in(directory).over(Network.UDP));
            assertTrue(sentence.contains("port"), sentence);
        }
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String sentence = refusal(two(0, taken.getLocalPort(), 1), in(directory));
            assertTrue(sentence.startsWith("the transport cannot listen on 127.0.0.1:" + taken.getLocalPort()),
                    sentence);
        }
        assertFalse(Files.exists(directory));
        Samples.awaitNoTransportThread();
    }

    @Test
    void shouldPrintNothing() {
        // The first lines of the logging facade about itself are not Aeron's.
        LoggerFactory.getLogger(StartTest.class);
        PrintStream standardError = System.err;
        var printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            Path directory = folder.resolve("driver");
            try (LinkTransport transport = LinkTransport.start(NodeMap.single(1), in(directory))) {
                refusal(NodeMap.single(1), in(directory));
                assertEquals(0, transport.counters().droppedFrames());
            }
        } finally {
            System.setErr(standardError);
        }
        assertEquals("", printed.toString(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryMessagesBetweenTwoNodes(Network network) throws Exception {
        IntSupplier freePort = network == Network.TCP ? Host::freeTcpPort : Host::freePort;
        int[] ports = {freePort.getAsInt(), freePort.getAsInt()};
        Edge edge = Samples.edge(0, 1);
        var here = new Ear();
        var there = new Ear();
        try (LinkTransport one = LinkTransport.start(two(0, ports),
                in(folder.resolve("0")).over(network))) {
            one.register(0, here);
            Tensor back = Samples.zeros(5);
            one.grant(0, Samples.edge(1, 0), Samples.ENGINE, back);
            TransportFault fault = Ear.next(here.faults);
            assertInstanceOf(TransportFault.LinkFault.class, fault);
            assertTrue(fault.sentence().contains("node 1"), fault.sentence());
            try (LinkTransport two = LinkTransport.start(two(1, ports),
                    in(folder.resolve("1")).over(network))) {
                two.register(1, there);
                Tensor source = Samples.random(3, 300_000);
                Tensor target = Samples.zeros(300_000);
                one.send(Samples.id(edge, 0), Samples.ENGINE, source);
                two.grant(0, edge, Samples.ENGINE, target);
                two.send(Samples.id(Samples.edge(1, 0), 0), Samples.ENGINE, Samples.random(9, 5));
                Ear.next(there.landed);
                assertArrayEquals(Samples.bytes(source), Samples.bytes(target));
                Ear.next(here.landed);
                assertThrows(IllegalArgumentException.class,
                        () -> two.grant(0, Samples.edge(1, 0), Samples.ENGINE, back));
            }
        }
    }

    /** Two nodes as if on two machines, on two addresses of this one. */
    private static NodeMap two(int self, int... ports) {
        return new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint("127.0.0.1", ports[0]), new Endpoint("127.0.0.2", ports[1])), Set.of(0, 1));
    }

}
