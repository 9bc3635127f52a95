package dev.troupe.weights.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A GGUF file, parsed by ggml's {@code docs/gguf.md}.
 *
 * @param metadata the values by key
 * @param tensors by name
 */
record ReadGguf(Map<String, Object> metadata, Map<String, Tensor> tensors) {
    /** A tensor: its dimensions from the innermost, ggml's number of its type, and its bytes. */
    record Tensor(List<Long> dimensions, int type, ByteBuffer bytes) {
        float[] floats() {
            float[] floats = new float[bytes.remaining() / Float.BYTES];
            bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
            return floats;
        }

        short[] shorts() {
            short[] shorts = new short[bytes.remaining() / Short.BYTES];
            bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(shorts);
            return shorts;
        }
    }

    private record Place(String name, List<Long> dimensions, int type, long offset) {
    }

    static ReadGguf of(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(0x46554747, bytes.getInt(), "GGUF");
        assertEquals(3, bytes.getInt());
        long tensorCount = bytes.getLong();
        long valueCount = bytes.getLong();
        Map<String, Object> metadata = new LinkedHashMap<>();
        for (int i = 0; i < valueCount; i++) {
            assertEquals(null, metadata.put(text(bytes), value(bytes, bytes.getInt())));
        }
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < tensorCount; i++) {
            String name = text(bytes);
            List<Long> dimensions = new ArrayList<>();
            for (int left = bytes.getInt(); left > 0; left--) {
                dimensions.add(bytes.getLong());
            }
            places.add(new Place(name, dimensions, bytes.getInt(), bytes.getLong()));
        }
        int begin = (bytes.position() + 31) / 32 * 32;
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        long next = 0;
        for (Place place : places) {
            assertEquals((next + 31) / 32 * 32, place.offset(), place.name());
            long length = byteCount(place);
            tensors.put(place.name(), new Tensor(place.dimensions(), place.type(),
                    bytes.slice(begin + (int) place.offset(), (int) length)));
            next = place.offset() + length;
        }
        assertEquals(begin + (next + 31) / 32 * 32, bytes.capacity());
        return new ReadGguf(metadata, tensors);
    }

    private static long byteCount(Place place) {
        long elements = place.dimensions().stream().mapToLong(Long::longValue).reduce(1, (a, b) -> a * b);
        return switch (place.type()) {
            case 0 -> 4 * elements;
            case 1, 30 -> 2 * elements;
            case 8 -> elements / 32 * 34;
            default -> throw new AssertionError("type " + place.type());
        };
    }

    private static Object value(ByteBuffer bytes, int type) {
        return switch (type) {
            case 4, 5 -> bytes.getInt();
            case 6 -> bytes.getFloat();
            case 7 -> bytes.get() == 1;
            case 8 -> text(bytes);
            case 9 -> {
                int inner = bytes.getInt();
                List<Object> values = new ArrayList<>();
                for (long left = bytes.getLong(); left > 0; left--) {
                    values.add(value(bytes, inner));
                }
                yield values;
            }
            default -> throw new AssertionError("value of type " + type);
        };
    }

    private static String text(ByteBuffer bytes) {
        byte[] utf8 = new byte[Math.toIntExact(bytes.getLong())];
        bytes.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
