package dev.troupe;

import static java.util.Objects.requireNonNull;

import dev.troupe.engine.Shape;
import dev.troupe.model.spec.ParameterSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;

/**
 * A checkpoint of a run with verified checksums. Its files are mapped into memory, and each read copies a tensor from the
 * slices of all ranks.
 *
 * <p>Thread rule: any thread, until the checkpoint is closed.
 */
public final class Checkpoint implements AutoCloseable {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final dev.troupe.plan.checkpoint.Checkpoint files;

    private Checkpoint(dev.troupe.plan.checkpoint.Checkpoint files) {
        this.files = files;
    }

    /**
     * Opens the newest whole checkpoint of a run's directory, or the checkpoint of that directory. The JVM needs no flags.
     *
     * @throws RequestException if it is missing or damaged
     */
    public static Checkpoint open(Path runOrCheckpoint) {
        requireNonNull(runOrCheckpoint, "runOrCheckpoint");
        return new Checkpoint(Refusals.translate(() -> dev.troupe.plan.checkpoint.Checkpoint.open(runOrCheckpoint)));
    }

    /** Returns the directory of the checkpoint. */
    public Path directory() {
        return files.directory();
    }

    /** Returns the optimizer steps that were done. */
    public long stepsDone() {
        return files.stepsDone();
    }

    /** Returns the model in one line. */
    public String model() {
        return files.model().summary();
    }

    /** Returns the name of each trained parameter, from the embedding to the head; with LoRA, the adapters. */
    public List<String> names() {
        return parameters().keySet().stream().filter(files::has).toList();
    }

    /** Returns the sizes of a parameter's dimensions, the slowest first. */
    public List<Integer> shape(String name) {
        List<Integer> sizes = new ArrayList<>();
        for (int size : sizesOf(name).toArray()) {
            sizes.add(size);
        }
        return List.copyOf(sizes);
    }

    /** Returns the bytes of an element as it was trained: 4 (float) or 8 (double). */
    public int elementBytes() {
        return files.parameterType().elementBytes();
    }

    /** Returns the values of a parameter, row-major; doubles are rounded. */
    public float[] floats(String name) {
        float[] values = new float[Math.toIntExact(sizesOf(name).elementCount())];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment read = read(name, arena);
            for (int i = 0; i < values.length; i++) {
                values[i] = elementBytes() == Float.BYTES
                        ? read.getAtIndex(FLOAT, i)
                        : (float) read.getAtIndex(DOUBLE, i);
            }
        }
        return values;
    }

    /**
     * Returns the values of a parameter of any size, row-major and little-endian, {@link #elementBytes} each.
     *
     * @param arena allocates the memory, and so decides how long it is valid
     */
    public MemorySegment read(String name, Arena arena) {
        Shape shape = sizesOf(name);
        MemorySegment values = arena.allocate(shape.elementCount() * elementBytes(), elementBytes());
        return Refusals.translate(() -> {
            files.read(name, shape, files.parameterType(), values);
            return values;
        });
    }

    private Shape sizesOf(String name) {
        ParameterSpec parameter = parameters().get(name);
        if (parameter == null || !files.has(name)) {
            throw new RequestException(directory() + " has no parameter \"" + name + "\"; names() has them all");
        }
        return parameter.shape().sizes();
    }

    private SequencedMap<String, ParameterSpec> parameters() {
        return files.model().parameters();
    }

    @Override
    public void close() {
        files.close();
    }
}
