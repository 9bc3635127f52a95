package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.parallel.TensorSlice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A source of whole tensors over several safetensors files, which may hold slices. Metadata marks slices; an unmarked tensor
 * is whole.
 *
 * <p>Thread rule: any number of threads may read; the files stay the caller's, and open.
 */
public final class ShardedWeights implements WeightSource {
    private static final String KEY = "slice.";

    private final String where;
    private final Map<String, List<Part>> tensors = new LinkedHashMap<>();

    private record Part(SafeTensors file, TensorSlice slice) {
    }

    private ShardedWeights(String where) {
        this.where = where;
    }

    /** Returns the metadata of a file about its slices; whole tensors are left out. */
    public static Map<String, String> metadata(Map<String, TensorSlice> slices) {
        Map<String, String> metadata = new TreeMap<>();
        slices.forEach((name, slice) -> {
            if (!slice.isWhole()) {
                metadata.put(KEY + name, slice.text());
            }
        });
        return metadata;
    }

    /**
     * Joins files.
     *
     * @param where the place of the files, for messages
     * @throws WeightException if a tensor occurs twice or is incomplete, or is not the slice of its file's metadata
     */
    public static ShardedWeights of(String where, Collection<SafeTensors> files) {
        ShardedWeights weights = new ShardedWeights(where);
        files.forEach(weights::add);
        weights.tensors.forEach((name, parts) -> {
            try {
                TensorSlice.requireWhole(parts.stream().map(Part::slice).toList());
            } catch (IllegalArgumentException incomplete) {
                throw new WeightException(where + ": tensor " + quoted(name) + ": " + incomplete.getMessage()
                        + "; give all files of one run, each once", incomplete);
            }
        });
        return weights;
    }

    private void add(SafeTensors file) {
        file.tensors().forEach((name, tensor) -> {
            TensorSlice slice = sliceOf(file, name, tensor);
            if (!tensor.hasShape(slice.shape())) {
                throw new WeightException(file.file() + ": tensor " + quoted(name) + " must have the shape "
                        + slice.shape() + " of its slice, but has " + tensor.shapeText());
            }
            tensors.computeIfAbsent(name, key -> new ArrayList<>()).add(new Part(file, slice));
        });
    }

    private static TensorSlice sliceOf(SafeTensors file, String name, StoredTensor tensor) {
        String text = file.metadata().get(KEY + name);
        try {
            return text == null
                    ? TensorSlice.whole(Shape.of(tensor.sizes().stream().mapToInt(Math::toIntExact).toArray()))
                    : TensorSlice.parse(text);
        } catch (IllegalArgumentException | ArithmeticException refused) {
            throw new WeightException(file.file() + ": tensor " + quoted(name) + ": " + refused.getMessage(), refused);
        }
    }

    public Set<String> names() {
        return Set.copyOf(tensors.keySet());
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        List<Part> parts = tensors.get(name);
        if (parts == null) {
            throw new WeightException(
                    where + " has no tensor " + quoted(name) + "; use weights of a model that has it");
        }
        if (!parts.getFirst().slice.whole().equals(shape)) {
            throw new WeightException(where + ": tensor " + quoted(name) + " must have shape " + shape + ", but has "
                    + parts.getFirst().slice.whole() + "; use weights of the model that is configured");
        }
        for (Part part : parts) {
            if (part.slice.isWhole()) {
                part.file.read(name, shape, parameterType, target);
                return;
            }
            readSlice(name, part, parameterType, target);
        }
    }

    @Override
    public void requireNumbers(String name, DataType parameterType) {
        tensors.getOrDefault(name, List.of()).forEach(part -> part.file.requireNumbers(name, parameterType));
    }

    private static void readSlice(String name, Part part, DataType parameterType, MemorySegment target) {
        Shape shape = part.slice.shape();
        int elementBytes = parameterType.elementBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment own = arena.allocate(shape.elementCount() * elementBytes, elementBytes);
            part.file.read(name, shape, parameterType, own);
            part.slice.paste(own, target, elementBytes);
        }
    }
}
