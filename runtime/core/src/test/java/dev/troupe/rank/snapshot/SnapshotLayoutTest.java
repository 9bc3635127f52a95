package dev.troupe.rank.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.shard.StateTensor;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SnapshotLayoutTest {
    private static final SnapshotLayout LAYOUT = layout();

    private static SnapshotLayout layout() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT32);
                Tensor table = engine.allocate(DataType.FLOAT32, Shape.of(5, 3));
                Tensor half = engine.allocate(DataType.BFLOAT16, Shape.of(7));
                Tensor one = engine.allocate(DataType.FLOAT64, Shape.of(1))) {
            return Snapshots.layoutOf(List.of(named("wte.weight", table, false), named("h.0.ln_1.bias", half, false),
                    named("wte.weight", table, true), named("größe", one, false)));
        }
    }

    private static StateTensor named(String name, Tensor tensor, boolean copy) {
        return new StateTensor(name, tensor, TensorSlice.whole(tensor.shape()), copy);
    }

    @Test
    void shouldPutEachNameOnceAtTheBeginningOfALine() {
        assertEquals(new SnapshotLayout.Region(0, Shape.of(5, 3), DataType.FLOAT32),
                LAYOUT.regions().get("wte.weight"));
        assertEquals(64, LAYOUT.regions().get("h.0.ln_1.bias").offset());
        assertEquals(128, LAYOUT.regions().get("größe").offset());
        assertEquals(192, LAYOUT.byteCount());
        assertEquals(0, Snapshots.layoutOf(List.of()).byteCount());
    }

    @Test
    void shouldComeBackFromItsBytes() {
        assertEquals(LAYOUT, SnapshotLayout.decode(LAYOUT.encode()));
        SnapshotLayout empty = Snapshots.layoutOf(List.of());
        assertEquals(empty, SnapshotLayout.decode(empty.encode()));
    }

    @Test
    void shouldRefuseBytesThatAreNone() {
        byte[] bytes = LAYOUT.encode();
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(IllegalArgumentException.class, () -> SnapshotLayout.decode(cut), "cut to " + length);
        }
        assertThrows(IllegalArgumentException.class,
                () -> SnapshotLayout.decode(Arrays.copyOf(bytes, bytes.length + 1)));
    }
}
