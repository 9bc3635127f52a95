package dev.troupe.weights;

import dev.troupe.parallel.TensorSlice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The assembly of whole tensors from the slices of tensor-parallel ranks, in host memory. */
public final class SliceAssembly {
    private final Map<String, Parts> tensors = new LinkedHashMap<>();

    private record Parts(NamedTensor whole, MemorySegment elements, List<TensorSlice> slices) {
        static Parts none(NamedTensor part, TensorSlice slice) {
            MemorySegment elements = Arena.ofAuto().allocate(
                    slice.whole().elementCount() * part.type().elementBytes(), part.type().elementBytes());
            return new Parts(NamedTensor.of(part.name(), slice.whole(), part.type(), elements), elements,
                    new ArrayList<>());
        }
    }

    public void add(TensorPart share) {
        NamedTensor part = share.tensor();
        TensorSlice slice = share.slice();
        Parts parts = tensors.computeIfAbsent(part.name(), name -> Parts.none(part, slice));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(part.byteCount(), part.type().elementBytes());
            part.values().copyTo(own);
            slice.paste(own, parts.elements, part.type().elementBytes());
        }
        parts.slices.add(slice);
    }

    /**
     * Returns the whole tensors, in the order of their first slices.
     *
     * @throws IllegalArgumentException if a slice is missing, or came twice
     */
    public List<NamedTensor> whole() {
        tensors.forEach((name, parts) -> requireWhole(name, parts.slices));
        return tensors.values().stream().map(Parts::whole).toList();
    }

    private static void requireWhole(String name, List<TensorSlice> slices) {
        try {
            TensorSlice.requireWhole(slices);
        } catch (IllegalArgumentException incomplete) {
            throw new IllegalArgumentException("tensor " + name + ": " + incomplete.getMessage(), incomplete);
        }
    }
}
