package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Tensor;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.DeviceNode.Way;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes with ranks on one device, one of which is killed in the middle of a copy, and comes back. */
@Tag("real")
@Timeout(120)
class KilledDeviceNodeTest {
    private static final long PATIENCE_SECONDS = 30;

    @TempDir
    Path folder;
    private final SharedDevice device = SharedDevice.of(1);
    private final Ear ear = new Ear();
    private final List<Process> processes = new ArrayList<>();
    private NodeMap map = DeviceNode.map(0);
    private int epoch;
    private DriverHandle driver;
    private LinkTransport transport;

    @BeforeEach
    void start() {
        Path directory = folder.resolve("driver");
        driver = DriverHandle.startShared(directory, List.of(DeviceNode.map(0), DeviceNode.map(1)), 0,
                DeviceNode.settings(directory));
        transport = LinkTransport.start(map, DeviceNode.settings(directory));
        transport.register(0, ear);
    }

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
        transport.close();
        driver.close();
    }

    /** Rank 1 comes with a new process, or goes. */
    private void move() {
        map = DeviceNode.moved(map, ++epoch);
        transport.epoch(epoch, map);
    }

    private Process begin(Way way) throws IOException {
        move();
        Process process = DeviceNode.start(folder.resolve("driver"), epoch, way);
        processes.add(process);
        return process;
    }

    private Tensor grant() {
        Tensor buffer = device.zeros(DeviceNode.LARGE);
        transport.grant(epoch, DeviceNode.BACK, device.engine(), buffer);
        return buffer;
    }

    private void kill(Process process, String after) throws Exception {
        try (BufferedReader lines = process.inputReader()) {
            CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> {
                try {
                    return lines.readLine();
                } catch (IOException ended) {
                    return null;
                }
            });
            assertEquals(after, line.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            process.destroyForcibly(); // SIGKILL
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
        move();
    }

    private void assertLanded(int microbatch, long seed) throws InterruptedException {
        Ear.Heard landed = Ear.next(ear.landed);
        assertEquals(microbatch, landed.id().microbatch());
        assertArrayEquals(SharedDevice.randomBytes(seed, DeviceNode.LARGE), device.bytes(landed.tensor()));
    }

    /** Two messages come, and one goes there and back. */
    private void assertCarries() throws Exception {
        begin(Way.NOTHING);
        for (int message = 0; message < 3; message++) {
            grant();
        }
        assertLanded(0, 0);
        assertLanded(1, 1);
        transport.send(new MessageId(epoch, 5, DeviceNode.THERE, 7), device.engine(),
                device.random(77, DeviceNode.LARGE));
        assertLanded(7, 77);
        assertEquals(0, device.byHost.get(), "bytes by way of the host");
        assertNull(ear.faults.peek());
    }

    private void awaitOpen(int count) {
        Samples.await(() -> device.open.get() == count, () -> device.open + " rings are open");
    }

    @Test
    void shouldLandNothingThatAKilledSenderHasHalfWritten() throws Exception {
        Process killed = begin(Way.WRITES_HALF);
        grant();
        Tensor open = grant();
        assertLanded(0, 0);
        kill(killed, DeviceNode.HALF);
        assertSame(open, Ear.next(ear.returned));
        assertNull(ear.landed.peek());
        awaitOpen(0); // the memory that the killed process had open is given back
        assertCarries();
    }

    @Test
    void shouldEndTheUseOfMemoryOfAKilledReceiver() throws Exception {
        Process killed = begin(Way.READS_FOR_EVER);
        Tensor sent = device.random(5, DeviceNode.LARGE);
        transport.send(new MessageId(epoch, 5, DeviceNode.THERE, 0), device.engine(), sent);
        kill(killed, DeviceNode.BEGUN);
        assertSame(sent, Ear.next(ear.returned), "its ring was full");
        awaitOpen(0);
        assertCarries();
        try (Stream<Path> files = Files.list(folder.resolve("driver").resolve("rings"))) {
            assertEquals(List.of(), files.filter(file -> file.toString().contains(".device")).toList(),
                    "notes of rings that both sides have opened");
        }
    }
}
