package dev.troupe.rows;

import dev.troupe.data.DataException;
import dev.troupe.engine.TokenKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The numbers of rows, as {@link RowPacker} writes them, with the place of each row. Any thread may read it while the memory
 * of the numbers is valid.
 */
final class RowTable {
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int PADDING_ID = 0;
    /** The length of the longest array, less one place for the end. */
    private static final int MOST_ROWS = Integer.MAX_VALUE - 8;

    private final List<Path> files;
    private final int sequenceLength;
    private final MemorySegment numbers;
    /** The index of the first number of each row, and of the end. */
    private final long[] starts;
    private final int[] counted;
    private final int[] lengths;
    private final boolean holdsSeveral;

    RowTable(List<Path> files, int sequenceLength, MemorySegment numbers) {
        this.files = files;
        this.sequenceLength = sequenceLength;
        this.numbers = numbers;
        long end = numbers.byteSize() / Integer.BYTES;
        int rows = rowCount(end);
        this.starts = new long[rows + 1];
        this.counted = new int[rows];
        this.lengths = new int[rows];
        int row = -1;
        long documents = 0;
        for (long at = 0; at < end; at = next(at)) {
            if (beginsRow(at)) {
                starts[++row] = at;
            }
            counted[row] += number(at + RowPacker.COUNTED);
            lengths[row] += documentLength(at);
            documents++;
        }
        starts[rows] = end;
        holdsSeveral = documents > rows;
    }

    private int rowCount(long end) {
        long rows = 0;
        for (long at = 0; at < end; at = next(at)) {
            rows += beginsRow(at) ? 1 : 0;
        }
        if (rows > MOST_ROWS) {
            throw new DataException(files.getFirst() + " and the files after it make " + rows
                    + " rows, but a run can have at most " + MOST_ROWS + "; name fewer files");
        }
        return (int) rows;
    }

    private int number(long index) {
        return numbers.getAtIndex(NUMBER, index);
    }

    private boolean beginsRow(long header) {
        return (number(header + RowPacker.FILE) & 1) == 1;
    }

    private int documentLength(long header) {
        return number(header + RowPacker.LENGTH);
    }

    private long next(long header) {
        return header + RowPacker.HEADER + documentLength(header);
    }

    int rows() {
        return counted.length;
    }

    boolean holdsSeveral() {
        return holdsSeveral;
    }

    int sequenceLength() {
        return sequenceLength;
    }

    int counted(int row) {
        return counted[row];
    }

    /** Returns the tokens of a row before its padding. */
    int length(int row) {
        return lengths[row];
    }

    /** As {@link PackedRows#fill}, up to a length; starts are null if no row holds several documents. */
    void fill(int row, int[] inputs, int[] targets, int[] starts, int at, int length) {
        int origin = 0;
        for (long header = this.starts[row]; header < this.starts[row + 1]; header = next(header)) {
            int begin = origin;
            int number = number(header + RowPacker.HEADER);
            for (int i = 1; i < documentLength(header); i++) {
                int following = number(header + RowPacker.HEADER + i);
                write(number >> 1, (following & 1) == 1 ? following >> 1 : TokenKernels.NOT_COUNTED, begin, inputs,
                        targets, starts, at + origin++);
                number = following;
            }
            write(number >> 1, TokenKernels.NOT_COUNTED, begin, inputs, targets, starts, at + origin++);
        }
        for (int begin = origin; origin < length; origin++) {
            write(PADDING_ID, TokenKernels.NOT_COUNTED, begin, inputs, targets, starts, at + origin);
        }
    }

    private static void write(int input, int target, int start, int[] inputs, int[] targets, int[] starts, int at) {
        inputs[at] = input;
        targets[at] = target;
        if (starts != null) {
            starts[at] = start;
        }
    }

    private DocumentOrigin origin(long header) {
        int file = number(header + RowPacker.FILE) >> 1;
        return new DocumentOrigin(files.get(file), file, number(header + RowPacker.NUMBER));
    }

    /** An id outside the vocabulary. */
    record Beyond(DocumentOrigin origin, int id) {
    }

    /** Returns the first id of some rows that is not below a size; empty if all are. */
    Optional<Beyond> firstBeyond(int vocabularySize, int from, int to) {
        for (long header = starts[from]; header < starts[to]; header = next(header)) {
            for (int i = 0; i < documentLength(header); i++) {
                int id = number(header + RowPacker.HEADER + i) >> 1;
                if (id >= vocabularySize) {
                    return Optional.of(new Beyond(origin(header), id));
                }
            }
        }
        return Optional.empty();
    }

    RowFigures figures(int from, int to) {
        long documents = 0;
        long tokens = 0;
        long targets = 0;
        int longest = 0;
        for (int row = from; row < to; row++) {
            for (long header = starts[row]; header < starts[row + 1]; header = next(header)) {
                documents++;
            }
            tokens += lengths[row];
            targets += counted[row];
            longest = Math.max(longest, lengths[row]);
        }
        long rows = (long) to - from;
        return new RowFigures(rows, documents, tokens, targets, longest,
                1 - (double) tokens / (rows * sequenceLength));
    }
}
