package dev.troupe.weights;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class SafeTensorsTest {
    private static final List<NamedTensor> TENSORS = List.of(
            NamedTensor.of("b", Shape.of(2, 3), DataType.FLOAT32,
                    MemorySegment.ofArray(new float[]{1, -2, 3.5f, Float.MIN_VALUE, -0f, 1e30f})),
            NamedTensor.of("a", Shape.of(3), DataType.INT32, MemorySegment.ofArray(new int[]{1, -1, 1 << 30})),
            NamedTensor.of("é \"quoted\"", Shape.of(2), DataType.FLOAT64,
                    MemorySegment.ofArray(new double[]{Math.PI, -1e300})));

    @TempDir
    private Path directory;

    @Test
    void shouldReadWhatWasWritten() {
        Path file = directory.resolve("some.safetensors");
        SafeTensorsWriter.write(file, Map.of("step", "7", "format", "pt"), TENSORS);
        try (SafeTensors read = SafeTensors.open(file)) {
            assertEquals(Map.of("step", "7", "format", "pt"), read.metadata());
            assertEquals(List.of("é \"quoted\"", "a", "b"), List.copyOf(read.tensors().keySet()));
            assertEquals(List.of(2L, 3L), read.tensor("b").sizes());
            assertArrayEquals(new float[]{1, -2, 3.5f, Float.MIN_VALUE, -0f, 1e30f},
                    floats(read, "b", Shape.of(2, 3)));
            assertArrayEquals(new double[]{Math.PI, -1e300}, doubles(read, "é \"quoted\"", Shape.of(2)));
            int[] ids = new int[3];
            read.read("a", Shape.of(3), DataType.INT32, MemorySegment.ofArray(ids));
            assertArrayEquals(new int[]{1, -1, 1 << 30}, ids);
        }
    }

    @Test
    void shouldWriteTheSameBytesWhateverTheOrder() throws IOException {
        Path one = directory.resolve("one");
        Path other = directory.resolve("other");
        List<NamedTensor> reversed = new ArrayList<>(TENSORS);
        Collections.reverse(reversed);
        SafeTensorsWriter.write(one, Map.of("x", "1", "y", "2"), TENSORS);
        SafeTensorsWriter.write(other, Map.of("y", "2", "x", "1"), reversed);
        assertArrayEquals(Files.readAllBytes(one), Files.readAllBytes(other));
    }

    @Test
    void shouldKeepElementsAligned() throws IOException {
        Path file = directory.resolve("aligned");
        SafeTensorsWriter.write(file, Map.of("odd", "length"), TENSORS);
        long headerBytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        assertEquals(0, headerBytes % 8);
        try (SafeTensors read = SafeTensors.open(file)) {
            read.tensors().values()
                    .forEach(tensor -> assertEquals(0, tensor.begin() % tensor.type().elementBytes(), tensor.name()));
        }
    }

    @Test
    void shouldWidenAndNarrow() throws IOException {
        ByteBuffer data = ByteBuffer.allocate(8 + 8 + 16 + 16).order(ByteOrder.LITTLE_ENDIAN);
        // Sign, exponent and fraction of binary16 and bfloat16, by hand.
        data.putShort((short) 0x3C00).putShort((short) 0xC000).putShort((short) 0x7BFF).putShort((short) 0x0001);
        data.putShort((short) 0x3F80).putShort((short) 0xC000).putShort((short) 0x4049).putShort((short) 0x7F80);
        data.putLong(5).putLong(-6);
        data.putDouble(0.1).putDouble(1e300);
        Path file = write("""
                {"half":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},
                 "brain":{"dtype":"BF16","shape":[4],"data_offsets":[8,16]},
                 "long":{"dtype":"I64","shape":[2],"data_offsets":[16,32]},
                 "double":{"dtype":"F64","shape":[2],"data_offsets":[32,48]}}""", data.array());
        try (SafeTensors read = SafeTensors.open(file)) {
            float[] half = {1, -2, 65504, 0x1p-24f};
            float[] brain = {1, -2, 3.140625f, Float.POSITIVE_INFINITY};
            assertArrayEquals(half, floats(read, "half", Shape.of(4)));
            assertArrayEquals(brain, floats(read, "brain", Shape.of(4)));
            assertArrayEquals(new double[]{1, -2, 65504, 0x1p-24}, doubles(read, "half", Shape.of(4)));
            assertArrayEquals(new double[]{1, -2, 3.140625, Double.POSITIVE_INFINITY},
                    doubles(read, "brain", Shape.of(4)));
            assertArrayEquals(new float[]{0.1f, Float.POSITIVE_INFINITY}, floats(read, "double", Shape.of(2)));
            int[] numbers = new int[2];
            read.read("long", Shape.of(2), DataType.INT32, MemorySegment.ofArray(numbers));
            assertArrayEquals(new int[]{5, -6}, numbers);
            WeightException refused = assertThrows(WeightException.class, () -> floats(read, "long", Shape.of(2)));
            assertEquals(file + ": tensor \"long\" must be stored as F64, F32, F16 or BF16, but is I64;"
                    + " save it again as one of those", refused.getMessage());
        }
    }

    @Test
    void shouldReadDataThatNoHeaderAligns() throws IOException {
        byte[] data = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(1.25f).array();
        String header = "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
        for (int padding = 0; padding < 8; padding++) {
            try (SafeTensors read = SafeTensors.open(write(header + " ".repeat(padding), data))) {
                assertArrayEquals(new float[]{1.25f}, floats(read, "x", Shape.of(1)));
                assertArrayEquals(new double[]{1.25}, doubles(read, "x", Shape.of(1)));
            }
        }
    }

    @Test
    void shouldTakeScalarsAndTensorsOfNothing() throws IOException {
        Path file = write("""
                {"none":{"dtype":"F32","shape":[0,5],"data_offsets":[4,4]},
                 "one":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}""", new byte[4]);
        try (SafeTensors read = SafeTensors.open(file)) {
            assertEquals(1, read.tensor("one").elementCount());
            assertEquals(0, read.tensor("none").elementCount());
        }
    }

    @Test
    void shouldReachBeyondTwoGibibytes() throws IOException {
        long gap = 3L << 30;
        String header = "{\"gap\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]},".formatted(gap, gap)
                + "\"far\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[%d,%d]}}".formatted(gap, gap + 8);
        Path file = write(header, new byte[0]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            // The file has a hole there, so that it takes no room on the disk.
            channel.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putFloat(7).putFloat(8).flip(),
                    channel.size() + gap);
        }
        try (SafeTensors read = SafeTensors.open(file)) {
            assertArrayEquals(new float[]{7, 8}, floats(read, "far", Shape.of(2)));
        }
    }

    @Test
    void shouldLeaveTheOldFileIfWritingFails() throws IOException {
        Path file = directory.resolve("kept");
        SafeTensorsWriter.write(file, Map.of(), TENSORS);
        byte[] before = Files.readAllBytes(file);
        NamedTensor failing = new NamedTensor("z", Shape.of(2), DataType.FLOAT32, _ -> {
            throw new IllegalStateException("device lost");
        });
        assertThrows(IllegalStateException.class,
                () -> SafeTensorsWriter.write(file, Map.of(), List.of(TENSORS.getFirst(), failing)));
        assertArrayEquals(before, Files.readAllBytes(file));
        try (var left = Files.list(directory)) {
            assertEquals(List.of(file), left.toList());
        }
    }

    @Test
    void shouldExplainWhyAFileCannotBeWritten() {
        Path file = directory.resolve("no").resolve("such").resolve("place");
        WeightException refused = assertThrows(WeightException.class,
                () -> SafeTensorsWriter.write(file, Map.of(), TENSORS));
        assertEquals("cannot write " + file + ": there is no such file", refused.getMessage());
    }

    private Path write(String header, byte[] data) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer all = ByteBuffer.allocate(8 + json.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        return Files.write(directory.resolve("by-hand"), all.putLong(json.length).put(json).put(data).array());
    }

    private static float[] floats(SafeTensors file, String name, Shape shape) {
        MemorySegment target = MemorySegment.ofArray(new byte[(int) shape.elementCount() * Float.BYTES]);
        file.read(name, shape, DataType.FLOAT32, target);
        return target.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    private static double[] doubles(SafeTensors file, String name, Shape shape) {
        MemorySegment target = MemorySegment.ofArray(new byte[(int) shape.elementCount() * Double.BYTES]);
        file.read(name, shape, DataType.FLOAT64, target);
        return target.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
    }
}
