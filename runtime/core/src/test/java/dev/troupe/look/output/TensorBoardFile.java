package dev.troupe.look.output;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A reader of TensorBoard's event files, by the description of the formats alone: TFRecord with a CRC-32C of its own, and
 * protobuf.
 */
final class TensorBoardFile {
    /** A field of a message: its number, and a number or bytes. */
    private record Field(int number, long value, ByteBuffer bytes) {
    }

    private TensorBoardFile() {
    }

    /**
     * Returns what TensorBoard shows of a directory: for each tag the value at each step. Files are read by name; a mark of
     * a restart drops what was read of its step and of later ones.
     */
    static Map<String, Map<Long, Float>> read(Path directory) throws IOException {
        Map<String, Map<Long, Float>> shown = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                List<ByteBuffer> events = events(Files.readAllBytes(file));
                require(text(field(events.getFirst(), 3)).equals("brain.Event:2"), "no version");
                events.subList(1, events.size()).forEach(event -> show(event, shown));
            }
        }
        return shown;
    }

    private static void show(ByteBuffer event, Map<String, Map<Long, Float>> shown) {
        long step = 0;
        for (Field field : fields(event)) {
            switch (field.number()) {
                case 1 ->
                    require(Math.abs(Double.longBitsToDouble(field.value()) - System.currentTimeMillis() / 1e3) < 60,
                            "the time of the wall");
                case 2 -> step = field.value();
                case 5 -> {
                    for (Field value : fields(field.bytes())) {
                        shown.computeIfAbsent(text(field(value.bytes(), 1)), _ -> new TreeMap<>()).put(step,
                                Float.intBitsToFloat((int) field(value.bytes(), 2).value()));
                    }
                }
                case 7 -> {
                    require(field(field.bytes(), 1).value() == 1, "a session that does not start");
                    long from = step;
                    shown.values().forEach(values -> values.keySet().removeIf(at -> at >= from));
                }
                default -> throw new AssertionError("field " + field.number());
            }
        }
    }

    /** Returns the events of a file; one that is not whole, at its end, is left out. */
    private static List<ByteBuffer> events(byte[] file) {
        List<ByteBuffer> events = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.remaining() >= 12) {
            int at = bytes.position();
            long length = bytes.getLong();
            require(bytes.getInt() == masked(file, at, 8), "the checksum of a length");
            if (bytes.remaining() < length + 4) {
                break;
            }
            events.add(bytes.slice(at + 12, (int) length).order(ByteOrder.LITTLE_ENDIAN));
            require(bytes.position(at + 12 + (int) length).getInt() == masked(file, at + 12, (int) length),
                    "the checksum of an event");
        }
        return events;
    }

    private static int masked(byte[] bytes, int from, int length) {
        int crc = -1;
        for (byte one : Arrays.copyOfRange(bytes, from, from + length)) {
            crc ^= one & 0xff;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) == 0 ? 0 : 0x82f63b78); // Castagnoli's polynomial, reflected
            }
        }
        crc = ~crc;
        return (crc >>> 15 | crc << 17) + 0xa282ead8;
    }

    private static Field field(ByteBuffer message, int number) {
        return fields(message).stream().filter(field -> field.number() == number).findFirst().orElseThrow();
    }

    private static List<Field> fields(ByteBuffer message) {
        List<Field> fields = new ArrayList<>();
        ByteBuffer bytes = message.duplicate().order(ByteOrder.LITTLE_ENDIAN).rewind();
        while (bytes.hasRemaining()) {
            int key = (int) varint(bytes);
            int wireType = key & 7;
            switch (wireType) {
                case 0 -> fields.add(new Field(key >>> 3, varint(bytes), null));
                case 1 -> fields.add(new Field(key >>> 3, bytes.getLong(), null));
                case 5 -> fields.add(new Field(key >>> 3, bytes.getInt(), null));
                case 2 -> {
                    int length = (int) varint(bytes);
                    fields.add(new Field(key >>> 3, 0, bytes.slice(bytes.position(), length)));
                    bytes.position(bytes.position() + length);
                }
                default -> throw new AssertionError("wire type " + wireType);
            }
        }
        return fields;
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    private static String text(Field field) {
        return StandardCharsets.UTF_8.decode(field.bytes().duplicate()).toString();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
