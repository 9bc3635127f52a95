package dev.troupe.look.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("runtime")
class WeightComparisonTest {
    private static final String FILE = "model.safetensors";

    @TempDir
    private Path home;

    private static NamedTensor tensor(String name, double... values) {
        return NamedTensor.of(name, Shape.of(values.length), DataType.FLOAT64, MemorySegment.ofArray(values));
    }

    private Path whole(NamedTensor... tensors) {
        SafeTensorsWriter.write(home.resolve(FILE), Map.of(), List.of(tensors));
        return home.resolve(FILE);
    }

    /** A shard for each. */
    private Path sharded(NamedTensor... tensors) throws IOException {
        Path directory = Files.createDirectories(home.resolve("sharded"));
        StringBuilder index = new StringBuilder();
        for (NamedTensor tensor : tensors) {
            SafeTensorsWriter.write(directory.resolve(tensor.name() + ".safetensors"), Map.of(), List.of(tensor));
            index.append("%s\"%s\": \"%s.safetensors\"".formatted(index.isEmpty() ? "" : ", ", tensor.name(),
                    tensor.name()));
        }
        Files.writeString(directory.resolve(FILE + ".index.json"), "{\"weight_map\": {" + index + "}}");
        return directory.resolve(FILE);
    }

    @Test
    void shouldCompareAllShardsOfAModel() throws IOException {
        Path whole = whole(tensor("a", 3, 4), tensor("b", 12));
        Path same = sharded(tensor("a", 3, 4), tensor("b", 12));
        assertEquals(Optional.empty(), WeightComparison.firstDifference(whole, same));
        assertEquals(0, WeightComparison.relativeDistance(same, whole));

        Path other = sharded(tensor("a", 3, 4), tensor("b", 13));
        assertEquals(Optional.of("tensor b differs from byte 6 on"), WeightComparison.firstDifference(whole, other));
        assertEquals(1.0 / 13, WeightComparison.relativeDistance(whole, other), 1e-15);
        assertEquals(Optional.of("the models have tensors of different names"),
                WeightComparison.firstDifference(whole, sharded(tensor("a", 3, 4))));
        assertEquals(Optional.of("tensor b has another type or shape"),
                WeightComparison.firstDifference(whole, sharded(tensor("a", 3, 4), tensor("b", 12, 0))));
    }
}
