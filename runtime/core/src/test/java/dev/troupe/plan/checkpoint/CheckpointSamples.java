package dev.troupe.plan.checkpoint;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Small checkpoints: for each rank one tensor of four numbers that count up, the next rank's from 10 more. */
final class CheckpointSamples {
    static final ModelSpec MODEL = new Gpt2(3, 8, 2, 4, 17, true, 1e-5).spec();
    static final Shape SHAPE = Shape.of(2, 2);

    private CheckpointSamples() {
    }

    static Path write(CheckpointStore store, long stepsDone, int ranks, float first) {
        List<CheckpointPart> parts = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            parts.add(store.writePart(stepsDone, rank, tensors(rank, first + 10 * rank)));
        }
        return store.commit(stepsDone, LossScale.none(stepsDone), parts);
    }

    static List<TensorPart> tensors(int rank, float first) {
        return List.of(part(rank, first, TensorSlice.whole(SHAPE)));
    }

    static TensorPart part(int number, float first, TensorSlice slice) {
        float[] values = {first, first + 1, first + 2, first + 3};
        return new TensorPart(
                NamedTensor.of("weights-" + number, slice.shape(), DataType.FLOAT32, MemorySegment.ofArray(values)),
                slice);
    }

    static float[] values(Checkpoint checkpoint, String name) {
        return values(checkpoint, name, SHAPE);
    }

    static float[] values(Checkpoint checkpoint, String name, Shape shape) {
        float[] values = new float[Math.toIntExact(shape.elementCount())];
        checkpoint.read(name, shape, DataType.FLOAT32, MemorySegment.ofArray(values));
        return values;
    }

    /** The names in a directory, in order. */
    static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }
}
