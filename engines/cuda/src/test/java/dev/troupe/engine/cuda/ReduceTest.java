package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.BlockReduction;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums over tensors of several engines of one device have the bits of sums on the host. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class ReduceTest {
    private static final int COUNT = 701;
    /** The beginning of a range: aligned to 16 bytes, and not. */
    private static final int[] FIRST = {3, 8};
    private static final double[] SPECIAL = {0.0, -0.0, Double.NEGATIVE_INFINITY, 1e-40, -1e30};

    private final InterpretedDevice device = Interpreted.lateDevice();
    private final Random random = new Random(3);

    private MemorySegment numbers(DataType type, Arena arena) {
        MemorySegment memory = arena.allocate((long) COUNT * type.elementBytes(), 8);
        for (int i = 0; i < COUNT; i++) {
            double number = random.nextInt(4) == 0 ? SPECIAL[random.nextInt(SPECIAL.length)] : random.nextGaussian();
            switch (type) {
                case FLOAT32 -> memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) number);
                default -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, Bfloat16.of((float) number));
            }
        }
        return memory;
    }

    private void assertReduces(DataType type, int members, Reduction reduction) {
        for (int first : FIRST) {
            assertReduces(type, members, reduction, first);
        }
    }

    private void assertReduces(DataType type, int members, Reduction reduction, int first) {
        List<Engine> engines = new ArrayList<>();
        List<Tensor> tensors = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment expected = arena.allocate((long) COUNT * type.elementBytes(), 8);
            BlockReduction block = new BlockReduction();
            for (int member = 0; member < members; member++) {
                engines.add(Interpreted.on(device, DataType.FLOAT32));
                MemorySegment own = numbers(type, arena);
                if (member == 0) {
                    block.begin(own, 0, (int) own.byteSize(), type, reduction);
                } else {
                    block.add(own, 0);
                }
                tensors.add(engines.get(member).allocate(type, Shape.of(COUNT + first)));
                engines.get(member).copyFromHost(own, tensors.get(member), (long) first * type.elementBytes());
            }
            block.write(expected, 0);
            Engine last = engines.getLast();
            assertTrue(last.reaches(tensors));
            engines.forEach(engine -> last.waitFor(engine.fence()));
            last.reduce(tensors, first, tensors, first, COUNT, reduction == Reduction.MAXIMUM);
            for (int member = 0; member < members; member++) {
                engines.get(member).waitFor(last.fence());
                MemorySegment found = arena.allocate(expected.byteSize(), 8);
                engines.get(member).copyToHost(tensors.get(member), (long) first * type.elementBytes(), found);
                assertArrayEquals(expected.toArray(ValueLayout.JAVA_BYTE), found.toArray(ValueLayout.JAVA_BYTE),
                        type + " of " + members);
            }
        } finally {
            engines.forEach(Engine::close);
        }
    }

    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "BFLOAT16"})
    void shouldAddUpInTheOrderOfMembers(DataType type) {
        assertReduces(type, 2, Reduction.SUM);
        assertReduces(type, 8, Reduction.SUM);
    }

    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "BFLOAT16"})
    void shouldTakeTheLargest(DataType type) {
        assertReduces(type, 3, Reduction.MAXIMUM);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepNan(boolean isFirst) {
        try (Engine engine = Interpreted.on(device, DataType.FLOAT32)) {
            Tensor first = engine.allocate(DataType.FLOAT32, Shape.of(1));
            Tensor second = engine.allocate(DataType.FLOAT32, Shape.of(1));
            engine.fill(isFirst ? first : second, Double.NaN);
            engine.reduce(List.of(first, second), 0, List.of(first), 0, 1, true);
            float[] found = new float[1];
            engine.copyToHost(first, 0, MemorySegment.ofArray(found));
            assertTrue(Float.isNaN(found[0]));
        }
    }

    @Test
    void shouldNotReachOtherDevicesIdsOrNineTensors() {
        try (Engine engine = Interpreted.on(device, DataType.FLOAT32);
                Engine other = Interpreted.engine(DataType.FLOAT32)) {
            Tensor own = engine.allocate(DataType.FLOAT32, Shape.of(3));
            assertTrue(engine.reaches(List.of(own, own)));
            assertFalse(engine.reaches(List.of(own, other.allocate(DataType.FLOAT32, Shape.of(3)))));
            assertFalse(engine.reaches(List.of(engine.allocate(DataType.INT32, Shape.of(3)))));
            assertFalse(engine.reaches(List.of(own, own, own, own, own, own, own, own, own)));
        }
    }

    @Test
    void shouldRefuseElementsOutsideATensor() {
        try (Engine engine = Interpreted.on(device, DataType.FLOAT32)) {
            Tensor own = engine.allocate(DataType.FLOAT32, Shape.of(3));
            assertThrows(IllegalArgumentException.class,
                    () -> engine.reduce(List.of(own, own), 1, List.of(own), 0, 3, false));
        }
    }
}
