package dev.troupe.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * A sequence of token ids, or a part of one. Ids take one, two or four bytes each, in their own places: mapped files, one
 * after the other, or memory. Any number of threads may read it, until the {@link Corpus} it belongs to is closed.
 */
public final class Tokens {
    private static final ValueLayout.OfShort TWO_BYTES = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt FOUR_BYTES = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long CHECKED_AT_A_TIME = 1 << 22;

    private final String name;
    private final Piece[] pieces;
    /** The index of each piece's first id in the whole. */
    private final long[] starts;
    private final int idBytes;
    private final long first;
    private final long length;

    /**
     * Ids in one place.
     *
     * @param name for messages
     * @param ids one, two or four bytes each, unsigned and little-endian
     */
    record Piece(String name, MemorySegment ids) {
    }

    /**
     * @param name for messages
     * @param idBytes bytes of one id, 1, 2 or 4, unsigned and little-endian
     */
    Tokens(String name, MemorySegment ids, int idBytes) {
        this(name, List.of(new Piece(name, ids)), idBytes);
    }

    Tokens(String name, List<Piece> pieces, int idBytes) {
        this.name = name;
        this.pieces = pieces.toArray(Piece[]::new);
        this.starts = new long[pieces.size()];
        this.idBytes = idBytes;
        this.first = 0;
        long end = 0;
        for (int piece = 0; piece < starts.length; piece++) {
            starts[piece] = end;
            end += this.pieces[piece].ids().byteSize() / idBytes;
        }
        this.length = end;
    }

    private Tokens(String name, Tokens whole, long first, long length) {
        this.name = name;
        this.pieces = whole.pieces;
        this.starts = whole.starts;
        this.idBytes = whole.idBytes;
        this.first = first;
        this.length = length;
    }

    public String name() {
        return name;
    }

    public long length() {
        return length;
    }

    public int at(long position) {
        long index = first + Objects.checkIndex(position, length);
        int piece = pieceOf(index);
        return id(pieces[piece].ids(), index - starts[piece]);
    }

    public void copy(long position, int[] target, int targetOffset, int count) {
        Objects.checkFromIndexSize(position, count, length);
        if (count == 0) {
            return;
        }
        int piece = pieceOf(first + position);
        MemorySegment ids = pieces[piece].ids();
        long at = first + position - starts[piece];
        long end = ids.byteSize() / idBytes;
        for (int i = 0; i < count; i++) {
            if (at == end) {
                ids = pieces[++piece].ids();
                at = 0;
                end = ids.byteSize() / idBytes;
            }
            target[targetOffset + i] = id(ids, at++);
        }
    }

    private int pieceOf(long index) {
        if (starts.length == 1) {
            return 0;
        }
        int found = Arrays.binarySearch(starts, index);
        return found >= 0 ? found : -found - 2; // the last that begins before it
    }

    private int id(MemorySegment ids, long index) {
        return switch (idBytes) {
            case Byte.BYTES -> Byte.toUnsignedInt(ids.get(ValueLayout.JAVA_BYTE, index));
            case Short.BYTES -> Short.toUnsignedInt(ids.getAtIndex(TWO_BYTES, index));
            default -> ids.getAtIndex(FOUR_BYTES, index);
        };
    }

    /** Returns {@code count} ids from a position on, without a copy. */
    Tokens part(String partName, long position, long count) {
        Objects.checkFromIndexSize(position, count, length);
        return new Tokens(partName, this, first + position, count);
    }

    /**
     * Checks every id against a vocabulary, with a thread for each core.
     *
     * @throws DataException with the first id that it does not have
     */
    public void requireVocabulary(int vocabularySize) {
        if (vocabularySize >= 1L << Byte.SIZE * idBytes) {
            return;
        }
        long blocks = Math.ceilDiv(length, CHECKED_AT_A_TIME);
        OptionalLong beyond = LongStream.range(0, blocks).parallel()
                .map(block -> firstBeyond(vocabularySize, block * CHECKED_AT_A_TIME,
                        Math.min(length, (block + 1) * CHECKED_AT_A_TIME)))
                .filter(position -> position >= 0).findFirst();
        if (beyond.isPresent()) {
            throw beyond(vocabularySize, beyond.getAsLong());
        }
    }

    private long firstBeyond(int vocabularySize, long from, long to) {
        for (long position = from; position < to;) {
            int piece = pieceOf(first + position);
            MemorySegment ids = pieces[piece].ids();
            long at = first + position - starts[piece];
            long end = Math.min(ids.byteSize() / idBytes, at + to - position);
            for (; at < end; at++, position++) {
                if (Integer.toUnsignedLong(id(ids, at)) >= vocabularySize) {
                    return position;
                }
            }
        }
        return -1;
    }

    private DataException beyond(int vocabularySize, long position) {
        int piece = pieceOf(first + position);
        long id = Integer.toUnsignedLong(at(position));
        return new DataException(pieces[piece].name() + ": token " + (first + position - starts[piece]) + " is " + id
                + ", but the model's vocabulary has " + vocabularySize + " tokens, 0 to " + (vocabularySize - 1)
                + "; set model.vocabulary-size to " + (id + 1) + " or more, or use another file or tokenizer");
    }

    /**
     * Checks that there is one sequence and the token after it.
     *
     * @throws DataException with the numbers
     */
    public void requireSequence(int sequenceLength) {
        if (length <= sequenceLength) {
            throw new DataException(name + " has " + length + " tokens, but one sequence of " + sequenceLength
                    + " needs " + (sequenceLength + 1L)
                    + "; use more text or a smaller model.sequence-length");
        }
    }
}
