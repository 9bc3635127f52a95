package dev.troupe.generate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Texts that transformers, in float64, writes with a small random model after some prompts, and the distributions from which
 * a sampler may draw.
 */
record GenerationGolden(Path directory, JsonNode expected) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    static GenerationGolden named(String name) {
        try {
            Path directory = Path.of(GenerationGolden.class.getResource("/generation/" + name).toURI());
            return new GenerationGolden(directory, JSON.readTree(directory.resolve("expected.json").toFile()));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (URISyntaxException failed) {
            throw new IllegalStateException(failed);
        }
    }

    HuggingFaceModel model() {
        return HuggingFaceModel.open(directory.resolve("model"));
    }

    int newTokens() {
        return expected.get("new_tokens").asInt();
    }

    List<int[]> prompts() {
        return lists("prompts.jsonl");
    }

    List<int[]> greedy() {
        return lists("greedy.jsonl");
    }

    double[] logProbabilities(String kind, int prompt) {
        JsonNode row = expected.get(kind).get(prompt);
        double[] numbers = new double[row.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = row.get(i).asDouble();
        }
        return numbers;
    }

    /** Returns [prompts or tabled prompts][places][vocabulary]. */
    double[][][] floats(String file, String name) {
        try (SafeTensors tensors = SafeTensors.open(directory.resolve(file))) {
            List<Long> sizes = tensors.tensor(name).sizes();
            MemorySegment bytes = tensors.bytes(name);
            double[][][] numbers = new double[sizes.get(0).intValue()][sizes.get(1).intValue()][sizes.get(2)
                    .intValue()];
            long at = 0;
            for (double[][] prompt : numbers) {
                for (double[] row : prompt) {
                    for (int token = 0; token < row.length; token++) {
                        row[token] = bytes.getAtIndex(FLOAT, at++);
                    }
                }
            }
            return numbers;
        }
    }

    private List<int[]> lists(String file) {
        try {
            return Files.readAllLines(directory.resolve(file)).stream().map(line -> {
                try {
                    return JSON.readValue(line, int[].class);
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            }).toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
