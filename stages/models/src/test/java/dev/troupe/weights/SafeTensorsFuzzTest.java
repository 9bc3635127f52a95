package dev.troupe.weights;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A damaged file is refused with a sentence or read as it is; nothing else happens. */
@Tag("plan")
class SafeTensorsFuzzTest {
    private static final int ROUNDS = 3000;

    @TempDir
    private Path directory;

    @Test
    void shouldRefuseOrReadAnyDamagedFile() throws IOException {
        Path file = directory.resolve("model.safetensors");
        SafeTensorsWriter.write(file, Map.of("format", "pt"), List.of(
                NamedTensor.of("wte.weight", Shape.of(3, 2), DataType.FLOAT32, MemorySegment.ofArray(new float[6])),
                NamedTensor.of("h.0.ln_1.bias", Shape.of(2), DataType.FLOAT64, MemorySegment.ofArray(new double[2])),
                NamedTensor.of("ids", Shape.of(4), DataType.INT32, MemorySegment.ofArray(new int[4]))));
        byte[] sound = Files.readAllBytes(file);
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] damaged = damage(sound, random);
            Files.write(file, damaged);
            try {
                readWhole(file, damaged);
            } catch (WeightException sentence) {
                refused++;
                assertTrue(sentence.getMessage().startsWith(file.toString()) && !sentence.getMessage().contains("\n"),
                        () -> "seed " + seed + ": " + sentence.getMessage());
            } catch (RuntimeException | Error leaked) {
                throw new AssertionError("seed " + seed + ", round " + round + ": " + Arrays.toString(damaged), leaked);
            }
        }
        assertTrue(refused > ROUNDS / 4, "too few files were really damaged: " + refused + ", seed " + seed);
    }

    private static byte[] damage(byte[] sound, SplittableRandom random) {
        if (random.nextInt(4) == 0) {
            return Arrays.copyOf(sound, random.nextInt(sound.length));
        }
        byte[] damaged = sound.clone();
        int flips = random.nextInt(1, 4);
        for (int flip = 0; flip < flips; flip++) {
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return damaged;
    }

    private static void readWhole(Path file, byte[] bytes) {
        try (SafeTensors read = SafeTensors.open(file)) {
            for (StoredTensor tensor : read.tensors().values()) {
                byte[] stored = read.bytes(tensor.name()).toArray(ValueLayout.JAVA_BYTE);
                long dataStart = bytes.length - read.tensors().lastEntry().getValue().end();
                byte[] expected = Arrays.copyOfRange(bytes, (int) (dataStart + tensor.begin()),
                        (int) (dataStart + tensor.end()));
                assertTrue(Arrays.equals(expected, stored), tensor.name());
            }
        }
    }
}
