package dev.troupe.rows;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * The parts of a Parquet file in Thrift's compact protocol, right or wrong. Fields have the numbers of parquet.thrift.
 */
final class ParquetBytes {
    static final int BYTE_ARRAY = 6;
    static final int REQUIRED = 0;
    static final int OPTIONAL = 1;
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    private static final int I32 = 5;
    private static final int I64 = 6;
    private static final int BINARY = 8;
    private static final int LIST = 9;
    private static final int STRUCT = 12;
    private static final int MOST_IN_A_HEADER = 14;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int lastField;

    /** The pages, and the footer after them. */
    static byte[] file(byte[] pages, ParquetBytes footer) {
        byte[] metadata = footer.bytes.toByteArray();
        return file(pages, metadata, metadata.length);
    }

    /** A file that states another length of its footer. */
    static byte[] file(byte[] pages, byte[] footer, int footerLength) {
        return ByteBuffer.allocate(pages.length + footer.length + 12).order(ByteOrder.LITTLE_ENDIAN).put(MAGIC)
                .put(pages)
                .put(footer).putInt(footerLength).put(MAGIC).array();
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }

    ParquetBytes i32(int field, int value) {
        header(field, I32);
        varint((value << 1) ^ (value >> 31));
        return this;
    }

    ParquetBytes i64(int field, long value) {
        header(field, I64);
        varint((value << 1) ^ (value >> 63));
        return this;
    }

    ParquetBytes text(int field, String value) {
        header(field, BINARY);
        return text(value);
    }

    private ParquetBytes text(String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        varint(utf8.length);
        bytes.writeBytes(utf8);
        return this;
    }

    /** A text that ends the file before it has all of its bytes. */
    ParquetBytes textOfLength(int field, long length) {
        header(field, BINARY);
        varint(length);
        return this;
    }

    ParquetBytes struct(int field, Consumer<ParquetBytes> fields) {
        header(field, STRUCT);
        return struct(fields);
    }

    ParquetBytes struct(Consumer<ParquetBytes> fields) {
        int outer = lastField;
        lastField = 0;
        fields.accept(this);
        lastField = outer;
        return end();
    }

    /** The end of a struct. */
    ParquetBytes end() {
        bytes.write(0);
        return this;
    }

    ParquetBytes structs(int field, long count) {
        return list(field, count, STRUCT);
    }

    ParquetBytes numbers(int field, int... values) {
        list(field, values.length, I32);
        for (int value : values) {
            varint((value << 1) ^ (value >> 31));
        }
        return this;
    }

    ParquetBytes texts(int field, String... values) {
        list(field, values.length, BINARY);
        for (String value : values) {
            text(value);
        }
        return this;
    }

    private ParquetBytes list(int field, long count, int type) {
        header(field, LIST);
        if (count <= MOST_IN_A_HEADER) {
            bytes.write((int) (count << 4 | type));
        } else {
            bytes.write(0xf0 | type);
            varint(count);
        }
        return this;
    }

    private void header(int field, int type) {
        bytes.write(field - lastField << 4 | type);
        lastField = field;
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }
}
