package dev.troupe.look.output;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A record of a TensorBoard event file: a {@code tensorflow.Event} in protobuf's encoding, framed as a TFRecord with masked
 * CRC-32Cs of its length and bytes. Sources: tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto.
 */
final class TensorBoardRecord {
    /** The version of the format in which a session log marks a restart. */
    private static final String VERSION = "brain.Event:2";
    private static final int START = 1;
    private static final int CRC_MASK_DELTA = 0xa282ead8;
    /** Protobuf's field numbers. */
    private static final int WALL_TIME = 1;
    private static final int STEP = 2;
    private static final int FILE_VERSION = 3;
    private static final int SUMMARY = 5;
    private static final int SESSION_LOG = 7;
    private static final int VALUE = 1;
    private static final int TAG = 1;
    private static final int SIMPLE_VALUE = 2;
    private static final int STATUS = 1;
    /** Protobuf's wire types. */
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private TensorBoardRecord() {
    }

    static byte[] version(double wallSeconds) {
        TensorBoardRecord event = new TensorBoardRecord();
        event.fixed(WALL_TIME, wallSeconds);
        event.bytes(FILE_VERSION, VERSION.getBytes(StandardCharsets.UTF_8));
        return event.framed();
    }

    /** Returns the record that begins a session: a reader drops this step and later ones of earlier files. */
    static byte[] start(double wallSeconds, long step) {
        return event(wallSeconds, step, SESSION_LOG, log -> log.varint(STATUS, START));
    }

    /** Returns the record of some scalars at a step, by their tags. */
    static byte[] scalars(double wallSeconds, long step, Map<String, Double> values) {
        return event(wallSeconds, step, SUMMARY,
                summary -> values.forEach((tag, value) -> summary.message(VALUE, scalar -> {
                    scalar.bytes(TAG, tag.getBytes(StandardCharsets.UTF_8));
                    scalar.fixed(SIMPLE_VALUE, value.floatValue());
                })));
    }

    private static byte[] event(double wallSeconds, long step, int what, Consumer<TensorBoardRecord> message) {
        TensorBoardRecord event = new TensorBoardRecord();
        event.fixed(WALL_TIME, wallSeconds);
        event.varint(STEP, step);
        event.message(what, message);
        return event.framed();
    }

    private void message(int field, Consumer<TensorBoardRecord> write) {
        TensorBoardRecord inner = new TensorBoardRecord();
        write.accept(inner);
        bytes(field, inner.bytes.toByteArray());
    }

    private void bytes(int field, byte[] content) {
        key(field, LENGTH);
        varint(content.length);
        bytes.writeBytes(content);
    }

    private void varint(int field, long value) {
        key(field, VARINT);
        varint(value);
    }

    private void fixed(int field, double value) {
        key(field, FIXED64);
        bytes.writeBytes(littleEndian(Double.BYTES).putDouble(value).array());
    }

    private void fixed(int field, float value) {
        key(field, FIXED32);
        bytes.writeBytes(littleEndian(Float.BYTES).putFloat(value).array());
    }

    private void key(int field, int wireType) {
        varint(field << 3 | wireType);
    }

    /** Writes seven bits a byte, the lowest first. */
    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }

    private byte[] framed() {
        byte[] length = littleEndian(Long.BYTES).putLong(bytes.size()).array();
        return littleEndian(Long.BYTES + Integer.BYTES + bytes.size() + Integer.BYTES).put(length)
                .putInt(maskedCrc(length)).put(bytes.toByteArray()).putInt(maskedCrc(bytes.toByteArray())).array();
    }

    /** Returns the checksum, masked since the data contain checksums themselves. */
    private static int maskedCrc(byte[] of) {
        CRC32C crc = new CRC32C();
        crc.update(of);
        return Integer.rotateRight((int) crc.getValue(), 15) + CRC_MASK_DELTA;
    }

    private static ByteBuffer littleEndian(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }
}
