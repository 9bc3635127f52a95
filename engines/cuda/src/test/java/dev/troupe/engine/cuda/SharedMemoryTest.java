package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Memory.Shared;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxFault;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two processes of one GPU hand a tensor over in memory that one of them shares. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class SharedMemoryTest {
    private final List<InterpretedDevice> processes = Interpreted.processes(2);
    private final Engine here = Interpreted.on(processes.get(0), DataType.FLOAT32);
    private final Engine there = Interpreted.on(processes.get(1), DataType.FLOAT32);

    @Test
    void shouldCopyATensorWithoutTheHost() {
        Shared owned = there.share(64).orElseThrow();
        Shared opened = here.openShared(owned.handle()).orElseThrow();
        assertEquals(64, opened.byteCount());
        Tensor source = here.allocate(DataType.FLOAT32, Shape.of(3));
        Tensor target = there.allocate(DataType.FLOAT32, Shape.of(3));
        here.fill(source, 2);
        here.fence().await();
        there.fence().await();
        here.toShared(source, 0, 12, opened, 32).orElseThrow().await();
        there.fromShared(owned, 32, target, 0, 12).orElseThrow().await();
        assertEquals(0, processes.stream().mapToInt(gpu -> gpu.copiesToHost() + gpu.copiesFromHost()).sum());
        float[] found = new float[3];
        there.copyToHost(target, 0, MemorySegment.ofArray(found));
        assertArrayEquals(new float[]{2, 2, 2}, found);
        opened.close();
        owned.close();
        owned.close();
        here.close();
        there.close();
        assertEquals(0, processes.stream().mapToInt(InterpretedDevice::openAllocations).sum());
    }

    @Test
    void shouldServeAllEnginesAndRemainAfterThem() {
        Shared owned = there.share(64).orElseThrow();
        there.close();
        try (Engine next = Interpreted.on(processes.get(1), DataType.FLOAT32)) {
            Tensor tensor = next.allocate(DataType.FLOAT32, Shape.of(3));
            next.fence().await();
            next.toShared(tensor, 0, 12, owned, 0).orElseThrow().await();
        }
        Tensor elsewhere = here.allocate(DataType.FLOAT32, Shape.of(3));
        assertTrue(here.toShared(elsewhere, 0, 12, owned, 0).isEmpty(), "it is of another process");
    }

    @Test
    void shouldOpenNoMemoryOfAnotherGpuOrOfItsOwnProcess() {
        byte[] handle = there.share(64).orElseThrow().handle();
        assertThrows(DeviceException.class, () -> there.openShared(handle));
        assertTrue(Interpreted.engine(DataType.FLOAT32).openShared(handle).isEmpty());
    }

    /** The driver calls this undefined, and the interpreter detects it. */
    @Test
    void shouldDetectThatMemoryIsFreedWhileAnotherProcessHasItOpen() {
        Shared owned = there.share(64).orElseThrow();
        here.openShared(owned.handle()).orElseThrow();
        assertThrows(PtxFault.class, owned::close);
    }
}
