package dev.troupe.weights.gguf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The keys and values at the head of a GGUF file, in the order of insertion. */
final class GgufMetadata {
    private static final int UINT32 = 4;
    private static final int INT32 = 5;
    private static final int FLOAT32 = 6;
    private static final int BOOL = 7;
    private static final int STRING = 8;
    private static final int ARRAY = 9;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int count;

    void put(String key, int value) {
        begin(key, UINT32);
        int32(bytes, value);
    }

    void put(String key, float value) {
        begin(key, FLOAT32);
        int32(bytes, Float.floatToRawIntBits(value));
    }

    void put(String key, boolean value) {
        begin(key, BOOL);
        bytes.write(value ? 1 : 0);
    }

    void put(String key, String value) {
        begin(key, STRING);
        text(bytes, value);
    }

    void putTexts(String key, List<String> values) {
        begin(key, ARRAY);
        int32(bytes, STRING);
        int64(bytes, values.size());
        values.forEach(value -> text(bytes, value));
    }

    void putInts(String key, List<Integer> values) {
        begin(key, ARRAY);
        int32(bytes, INT32);
        int64(bytes, values.size());
        values.forEach(value -> int32(bytes, value));
    }

    private void begin(String key, int type) {
        text(bytes, key);
        int32(bytes, type);
        count++;
    }

    int count() {
        return count;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** Writes the length in bytes, then UTF-8. */
    static void text(ByteArrayOutputStream target, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        int64(target, utf8.length);
        target.writeBytes(utf8);
    }

    static void int32(ByteArrayOutputStream target, int value) {
        target.writeBytes(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }

    static void int64(ByteArrayOutputStream target, long value) {
        target.writeBytes(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }
}
