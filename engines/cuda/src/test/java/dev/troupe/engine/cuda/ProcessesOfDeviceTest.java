package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes of a machine, each with its own view of one GPU, exchange tensors that stay on the GPU. */
@ExtendWith(DrawnOrders.class)
@Tag("real")
@Timeout(60)
class ProcessesOfDeviceTest {
    private static final Edge EDGE = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    /** Of more than the ring of 2 MiB. */
    private static final int ELEMENTS = 1_200_001;
    private static final int MESSAGES = 3;

    @TempDir
    Path folder;
    private final List<InterpretedDevice> processes = Interpreted.processes(2);
    private DriverHandle driver;

    @AfterEach
    void stop() {
        driver.close();
    }

    private static final class Ear implements TransportListener {
        private final BlockingQueue<Tensor> landed = new LinkedBlockingQueue<>();

        @Override
        public void onLanded(MessageId id, Tensor tensor, int rows) {
            landed.add(tensor);
        }

        @Override
        public void onSent(MessageId id, Tensor tensor, long creditNanos) {
            // It becomes visible when it has landed.
        }

        @Override
        public void onReturned(Edge edge, Tensor tensor) {
            throw new IllegalStateException(edge + " has lost a tensor");
        }

        @Override
        public void onFault(TransportFault fault) {
            throw new IllegalStateException(fault.sentence());
        }
    }

    private int copiesByHost() {
        return processes.stream().mapToInt(gpu -> gpu.copiesToHost() + gpu.copiesFromHost()).sum();
    }

    @Test
    void shouldHandOverWithoutTheHost() throws InterruptedException {
        TransportSettings settings = new TransportSettings(Optional.of(folder.resolve("driver")), true, 1 << 20,
                Duration.ofSeconds(5));
        Endpoint machine = new Endpoint("localhost", 0);
        List<NodeMap> maps = IntStream.of(0, 1)
                .mapToObj(node -> new NodeMap(node, List.of(0, 1), List.of(machine, machine), Set.of(0, 1))).toList();
        driver = DriverHandle.startShared(folder.resolve("driver"), maps, 0, settings);
        Ear receiver = new Ear();
        byte[] bytes = new byte[ELEMENTS * Short.BYTES];
        new Random(5).nextBytes(bytes);
        try (Engine one = Interpreted.on(processes.get(0), DataType.BFLOAT16);
                Engine other = Interpreted.on(processes.get(1), DataType.BFLOAT16);
                LinkTransport there = LinkTransport.start(maps.get(1), settings);
                LinkTransport here = LinkTransport.start(maps.get(0), settings)) {
            here.register(0, new Ear());
            there.register(1, receiver);
            List<Tensor> targets = new ArrayList<>();
            for (int message = 0; message < MESSAGES; message++) {
                targets.add(other.allocate(DataType.BFLOAT16, Shape.of(ELEMENTS)));
                there.grant(0, EDGE, other, targets.get(message));
                Tensor source = one.allocate(DataType.BFLOAT16, Shape.of(ELEMENTS));
                bytes[0] = (byte) message;
                one.copyFromHost(MemorySegment.ofArray(bytes), source, 0);
                here.send(new MessageId(0, 5, EDGE, message), one, source);
            }
            int before = copiesByHost();
            for (int message = 0; message < MESSAGES; message++) {
                Tensor landed = receiver.landed.poll(30, TimeUnit.SECONDS);
                assertNotNull(landed, "nothing came within 30 seconds");
                assertSame(targets.get(message), landed);
            }
            assertEquals(before, copiesByHost(), "copies by way of the host");
            for (int message = 0; message < MESSAGES; message++) {
                byte[] found = new byte[bytes.length];
                other.copyToHost(targets.get(message), 0, MemorySegment.ofArray(found));
                bytes[0] = (byte) message;
                assertArrayEquals(bytes, found);
            }
        }
        assertEquals(0, processes.stream().mapToInt(InterpretedDevice::openAllocations).sum(),
                "the sender closed the ring, and then its receiver");
    }
}
