package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxFault;
import dev.troupe.rank.group.EngineGroup;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Three devices of a process: the one in the middle and each of its neighbours reach each other's memory. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
@Timeout(60)
class PeersTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final int COUNT = 701;

    private final List<InterpretedDevice> devices = Interpreted.machine(3, List.of(Set.of(0, 1), Set.of(1, 2)));
    private final List<Engine> engines = devices.stream().map(device -> Interpreted.on(device, DataType.FLOAT32))
            .toList();

    private Tensor filled(int device, double value) {
        Tensor tensor = engines.get(device).allocate(DataType.FLOAT32, Shape.of(COUNT));
        engines.get(device).fill(tensor, value);
        return tensor;
    }

    private float[] read(int device, Tensor tensor) {
        float[] numbers = new float[COUNT];
        engines.get(device).copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        return numbers;
    }

    private static float[] all(float number) {
        float[] numbers = new float[COUNT];
        Arrays.fill(numbers, number);
        return numbers;
    }

    private int copiesByHost() {
        return devices.stream().mapToInt(device -> device.copiesToHost() + device.copiesFromHost()).sum();
    }

    @Test
    void shouldTakeATensorFromAPeerWithoutTheHost() {
        Tensor source = filled(0, 3);
        Tensor target = filled(1, 0);
        engines.get(0).fence().await();
        engines.get(1).fence().await();
        engines.get(1).takeFrom(source, target, 4, source.byteCount() - 4).orElseThrow().await();
        assertEquals(0, copiesByHost());
        float[] expected = all(3);
        expected[0] = 0;
        assertArrayEquals(expected, read(1, target));
    }

    @Test
    void shouldTakeNothingFromADeviceThatIsNoPeer() {
        assertTrue(engines.get(2).takeFrom(filled(0, 3), filled(2, 0), 0, 8).isEmpty());
        assertFalse(engines.get(2).reaches(List.of(filled(0, 3), filled(2, 0))));
        assertTrue(engines.get(0).reaches(List.of(filled(0, 3), filled(1, 0))));
    }

    /** The interpreter's fault for a GPU's illegal address: without a request there is no access. */
    @Test
    void shouldDetectAnAccessToMemoryOfADeviceThatIsNoPeer() {
        for (int device : new int[]{1, 2}) {
            InterpretedDevice own = devices.get(device);
            DeviceStream stream = own.openStream();
            long there = devices.get(0).openStream().allocate(8);
            stream.copy(there, stream.allocate(8), 8);
            assertThrows(PtxFault.class, () -> stream.fence().await(), "nobody has asked for access");
            DeviceStream second = own.openStream();
            second.copy(there, second.allocate(8), 8);
            if (own.reaches(devices.get(0))) {
                second.fence().await();
            } else {
                assertThrows(PtxFault.class, () -> second.fence().await());
            }
        }
    }

    @Test
    void shouldWaitForAPeerOnTheDevice() {
        Tensor source = filled(0, 3);
        Tensor target = filled(1, 0);
        assertTrue(engines.get(1).reaches(List.of(source, target)));
        engines.get(1).waitFor(engines.get(0).fence());
        engines.get(1).reduce(List.of(source, target), 0, List.of(target), 0, COUNT, false);
        assertEquals(0, devices.get(0).waits() + devices.get(1).waits(), "the host has waited");
        assertArrayEquals(all(3), read(1, target));
    }

    /** The device in the middle reaches all, and its neighbours do not: all must do the same. */
    @Test
    void shouldAddUpOnTheHostUnlessAllArePeers() throws Exception {
        assertSums(List.of(0, 1, 2), true);
        assertSums(List.of(0, 2), true);
    }

    @Test
    void shouldAddUpOnPeers() throws Exception {
        assertSums(List.of(0, 1), false);
        assertSums(List.of(2, 1), false);
    }

    private void assertSums(List<Integer> members, boolean byHost) throws Exception {
        int before = copiesByHost();
        SharedGroup shared = new SharedGroup(new Membership("peers", members, DEADLINE));
        List<Tensor> tensors = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> sums = new ArrayList<>();
            for (int member = 0; member < members.size(); member++) {
                int own = member;
                int device = members.get(member);
                Tensor tensor = filled(device, 1 << own);
                tensors.add(tensor);
                sums.add(threads.submit(() -> {
                    try (CollectiveGroup group = shared.join(own, 0)) {
                        new EngineGroup(group, engines.get(device)).allReduce(tensor);
                        group.barrier(); // others may still read the tensor
                    }
                    return null;
                }));
            }
            for (Future<?> sum : sums) {
                sum.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            }
        }
        assertEquals(byHost, copiesByHost() > before);
        for (int member : IntStream.range(0, members.size()).toArray()) {
            assertArrayEquals(all((1 << members.size()) - 1), read(members.get(member), tensors.get(member)));
        }
    }
}
