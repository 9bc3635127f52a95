package dev.troupe.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The ids of a {@code .bin} file, two or four bytes each, as its header has it (llm.c's: 256 int32 with magic, version,
 * number of tokens, and zeros), or without a header as the reader asks.
 *
 * @param name for messages
 * @param ids unsigned and little-endian
 * @param idBytes bytes of one id, 2 or 4
 */
record TokenFile(String name, MemorySegment ids, int idBytes) {
    /** The versions of llm.c's token files by their magic, with the bytes of a token. */
    private enum Header {
        TWO_BYTES(20240520, 1, Short.BYTES), FOUR_BYTES(20240801, 7, Integer.BYTES);

        private final int magic;
        private final int version;
        private final int idBytes;

        Header(int magic, int version, int idBytes) {
            this.magic = magic;
            this.version = version;
            this.idBytes = idBytes;
        }
    }

    static final int HEADER_BYTES = 1024;
    private static final long MOST_TOKENS = 0xFFFFFFFFL;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * Reads a file.
     *
     * @param idBytes bytes of a token, 2 or 4; 0 for the header's, and 2 in a file without a header
     * @throws DataException if they contradict the header, or the file has another size than it must have
     */
    static TokenFile of(String name, MemorySegment bytes, int idBytes) {
        for (Header header : Header.values()) {
            if (bytes.byteSize() > HEADER_BYTES && bytes.get(INT, 0) == header.magic
                    && bytes.get(INT, Integer.BYTES) == header.version) {
                return behind(header, name, bytes, idBytes);
            }
        }
        int width = idBytes == 0 ? Short.BYTES : idBytes;
        if (bytes.byteSize() % width != 0) {
            throw new DataException(name + " must hold little-endian uint" + Byte.SIZE * width + " tokens, "
                    + (width == Short.BYTES ? "two" : "four") + " bytes each, but has " + bytes.byteSize()
                    + " bytes; write it again, or rename it if it is text");
        }
        return new TokenFile(name, bytes, width);
    }

    private static TokenFile behind(Header header, String name, MemorySegment bytes, int idBytes) {
        if (idBytes != 0 && idBytes != header.idBytes) {
            throw new DataException(name + " has the header of llm.c for tokens of " + header.idBytes
                    + " bytes each, but data.token-bytes = " + idBytes + "; leave that key out");
        }
        long said = Integer.toUnsignedLong(bytes.get(INT, 2 * Integer.BYTES));
        MemorySegment ids = bytes.asSlice(HEADER_BYTES);
        long found = ids.byteSize() / header.idBytes;
        if (said != found || ids.byteSize() % header.idBytes != 0) {
            throw new DataException(name + " has the header of llm.c, which promises " + said + " tokens, but " + found
                    + " come after it; write it again");
        }
        return new TokenFile(name, ids, header.idBytes);
    }

    /**
     * Returns the header of a file of four bytes a token.
     *
     * @throws DataException if the number of tokens does not fit
     */
    static ByteBuffer headerOfFourBytes(String name, long tokens) {
        if (tokens > MOST_TOKENS) {
            throw new DataException(name + " would have " + tokens + " tokens, but its header can count at most "
                    + MOST_TOKENS + "; write several files");
        }
        return ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(Header.FOUR_BYTES.magic)
                .putInt(Header.FOUR_BYTES.version).putInt((int) tokens).rewind();
    }
}
