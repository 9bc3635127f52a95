package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.look.bisect.BitsFile;
import dev.troupe.weights.SafeTensors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The files of a run. */
public final class RunFiles {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern RESULT = Pattern
            .compile("\"step\":(\\d+),\"loss\":([^,]+),\"gradient_norm\":([^,]+),\"learning_rate\":([^,]+),");

    private RunFiles() {
    }

    /** Step, loss, norm and rate of each line of {@code metrics.jsonl}, as text: equal text is equal bits. */
    static List<String> results(Path run) {
        return lines(run).stream().map(line -> {
            Matcher result = RESULT.matcher(line);
            if (!result.find()) {
                throw new IllegalStateException("no line of metrics: " + line);
            }
            return result.group();
        }).toList();
    }

    /** Each step once, with the same results, and the same weights at the end. */
    static void assertSameBits(Path expected, Path found) {
        List<String> results = results(found);
        assertEquals(results(expected), results, found.toString());
        assertArrayEquals(LongStream.range(0, results.size()).asDoubleStream().toArray(), metrics(found, "step"),
                found.toString());
        assertArrayEquals(exportedBytes(expected), exportedBytes(found), found.toString());
    }

    /** The digests of each step in {@code digests.bin}, after the header, which names the engine. */
    static long[] digests(Path run) {
        try {
            ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(run.resolve(BitsFile.NAME)))
                    .order(ByteOrder.LITTLE_ENDIAN);
            file.position(Long.BYTES + 2 * Integer.BYTES + file.getInt(Long.BYTES));
            long[] words = new long[file.remaining() / Long.BYTES];
            file.asLongBuffer().get(words);
            return words;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** One field of each line of {@code metrics.jsonl}; in an object its path, with slashes. */
    public static double[] metrics(Path run, String field) {
        return lines(run).stream().mapToDouble(line -> {
            try {
                JsonNode node = JSON.readTree(line).at("/" + field);
                return node.doubleValue();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }).toArray();
    }

    /** The lines of {@code metrics.jsonl} that have a validation loss. */
    static List<String> validations(Path run) {
        return lines(run, "\"validation_loss\":");
    }

    /** The names in a directory, in order. */
    static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    private static List<String> lines(Path run) {
        return lines(run, "\"step\":");
    }

    private static List<String> lines(Path run, String field) {
        try {
            return Files.readAllLines(run.resolve("metrics.jsonl")).stream().filter(line -> line.contains(field))
                    .toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static byte[] exportedBytes(Path run) {
        try {
            return Files.readAllBytes(exported(run));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static Path exported(Path run) {
        return run.resolve("model").resolve("model.safetensors");
    }

    static Path exportedAdapter(Path run) {
        return run.resolve("model").resolve("adapter_model.safetensors");
    }

    /** Every tensor of a safetensors file, as float64. */
    static Map<String, double[]> tensors(Path file) {
        Map<String, double[]> tensors = new TreeMap<>();
        try (SafeTensors stored = SafeTensors.open(file)) {
            stored.tensors().forEach((name, tensor) -> {
                Shape shape = Shape.of(tensor.sizes().stream().mapToInt(Math::toIntExact).toArray());
                double[] values = new double[Math.toIntExact(shape.elementCount())];
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment bytes = arena.allocate(ValueLayout.JAVA_DOUBLE, values.length);
                    stored.read(name, shape, DataType.FLOAT64, bytes);
                    MemorySegment.copy(bytes, ValueLayout.JAVA_DOUBLE, 0, values, 0, values.length);
                }
                tensors.put(name, values);
            });
        }
        return tensors;
    }
}
