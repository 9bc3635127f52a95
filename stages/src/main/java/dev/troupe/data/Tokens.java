package dev.troupe.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A sequence of token ids, or a part of one. Ids take one byte or two each, where they lie: in a mapped file or in
 * memory. Any number of threads may read it, until the {@link Corpus} it belongs to is closed.
 */
public final class Tokens {
    private static final ValueLayout.OfShort TWO_BYTES = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String name;
    private final MemorySegment ids;
    private final int idBytes;
    private final long first;
    private final long length;

    /**
     * Ids in memory.
     *
     * @param name
     *            for messages
     * @param idBytes
     *            bytes of one id, 1 or 2, unsigned and little-endian
     */
    Tokens(String name, MemorySegment ids, int idBytes) {
        this(name, ids, idBytes, 0, ids.byteSize() / idBytes);
    }

    private Tokens(String name, MemorySegment ids, int idBytes, long first, long length) {
        this.name = name;
        this.ids = ids;
        this.idBytes = idBytes;
        this.first = first;
        this.length = length;
    }

    /** What messages call this sequence. */
    public String name() {
        return name;
    }

    /** How many ids there are. */
    public long length() {
        return length;
    }

    /** One id. */
    public int at(long position) {
        return id(first + Objects.checkIndex(position, length));
    }

    /** Copies {@code count} ids from a position on into an array. */
    public void copy(long position, int[] target, int targetOffset, int count) {
        Objects.checkFromIndexSize(position, count, length);
        for (int i = 0; i < count; i++) {
            target[targetOffset + i] = id(first + position + i);
        }
    }

    private int id(long index) {
        return idBytes == 1
                ? Byte.toUnsignedInt(ids.get(ValueLayout.JAVA_BYTE, index))
                : Short.toUnsignedInt(ids.getAtIndex(TWO_BYTES, index));
    }

    /** {@code count} ids from a position on, without a copy. */
    Tokens part(String partName, long position, long count) {
        Objects.checkFromIndexSize(position, count, length);
        return new Tokens(partName, ids, idBytes, first + position, count);
    }

    /**
     * Checks every id against a vocabulary.
     *
     * @throws DataException
     *             naming the first id that it does not have
     */
    public void requireVocabulary(int vocabularySize) {
        int largest = idBytes == 1 ? 0xFF : 0xFFFF;
        if (vocabularySize > largest) {
            return;
        }
        for (long position = 0; position < length; position++) {
            int id = id(first + position);
            if (id >= vocabularySize) {
                throw new DataException(name + ": token " + position + " is " + id + ", but the model's vocabulary has "
                        + vocabularySize + " tokens, 0 to " + (vocabularySize - 1)
                        + "; set model.vocabulary-size to " + (id + 1) + " or more, or use another file or tokenizer");
            }
        }
    }

    /**
     * Checks that there is one sequence and the token after it.
     *
     * @throws DataException
     *             with the numbers
     */
    void requireSequence(int sequenceLength) {
        if (length <= sequenceLength) {
            throw new DataException(name + " has " + length + " tokens, but one sequence of " + sequenceLength
                    + " needs " + (sequenceLength + 1L)
                    + "; use more text or a smaller model.sequence-length");
        }
    }
}
