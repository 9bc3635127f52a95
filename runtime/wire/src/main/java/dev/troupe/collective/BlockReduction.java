package dev.troupe.collective;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The reduction of one block of elements over members in their order or in a tree, in memory that fits a near cache. Sums
 * of bfloat16 are kept as floats and rounded once, after the last member. All memory is native, in native byte order. One
 * thread at a time.
 */
public final class BlockReduction {
    /** The block size for the nearest cache: a block and its result fit the 32 KiB of level 1 twice. */
    public static final int MOST_BYTES = 8 << 10;
    /** The bytes of an element's sum for each byte of the element, at most. */
    private static final int WIDENING = 2;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;

    private final MemorySegment result;
    private final int mostBytes;
    /** The sums of a tree that wait for their neighbour, after {@link #result}; made with the first tree. */
    private final List<MemorySegment> waiting = new ArrayList<>();
    /** The members so far of a tree. */
    private int members;
    private DataType type;
    private Reduction reduction;
    private int bytes;

    /** Creates a reduction of blocks of {@link #MOST_BYTES}. */
    public BlockReduction() {
        this(MOST_BYTES);
    }

    /** Creates a reduction of blocks of at most {@code mostBytes}. */
    public BlockReduction(int mostBytes) {
        this.mostBytes = mostBytes;
        result = Arena.ofAuto().allocate((long) WIDENING * mostBytes, FLOATS.vectorByteSize());
    }

    /**
     * Refuses elements that cannot be reduced.
     *
     * @throws IllegalArgumentException if the type is no float type or does not fit the reduction, or {@code bytes} is not a
     *     multiple of an element
     */
    public static void require(DataType type, Reduction reduction, long bytes) {
        boolean isReducible = switch (type) {
            case FLOAT32, FLOAT64, BFLOAT16 -> true;
            case INT32 -> false;
        };
        if (!isReducible) {
            throw new IllegalArgumentException("only floats are reduced, but found " + type);
        }
        if (reduction == Reduction.SUM_OF_ROUNDED && type != DataType.FLOAT32) {
            throw new IllegalArgumentException("only float32 is rounded before it is added, but found " + type);
        }
        if (reduction == Reduction.TREE_SUM && type == DataType.BFLOAT16) {
            throw new IllegalArgumentException("numbers of bfloat16 are not added in a tree");
        }
        if (bytes % type.elementBytes() != 0) {
            throw new IllegalArgumentException(bytes + " bytes are no whole elements of " + type);
        }
    }

    /**
     * Begins a reduction with a block of member 0.
     *
     * @param blockBytes the bytes of the block, a multiple of an element
     */
    public void begin(MemorySegment first, long firstAt, int blockBytes, DataType elements, Reduction how) {
        type = elements;
        reduction = how;
        bytes = blockBytes;
        members = 1;
        if (type == DataType.BFLOAT16) {
            widen(first, firstAt);
        } else if (how == Reduction.SUM_OF_ROUNDED) {
            round(first, firstAt);
        } else {
            MemorySegment.copy(first, firstAt, result, 0, blockBytes);
        }
    }

    /** Begins a {@link Reduction#SUM_OF_ROUNDED} with member 0's rounded block, half of {@code blockBytes} long. */
    public void beginRounded(MemorySegment first, long firstAt, int blockBytes) {
        type = DataType.FLOAT32;
        reduction = Reduction.SUM_OF_ROUNDED;
        bytes = blockBytes;
        for (int i = 0; i < bytes; i += Float.BYTES) {
            result.set(FLOAT, i, Bfloat16.toFloat(first.get(SHORT, firstAt + i / WIDENING)));
        }
    }

    /** Adds the next member's rounded block to a {@link Reduction#SUM_OF_ROUNDED}. */
    public void addRounded(MemorySegment next, long nextAt) {
        for (int i = 0; i < bytes; i += Float.BYTES) {
            result.set(FLOAT, i, result.get(FLOAT, i) + Bfloat16.toFloat(next.get(SHORT, nextAt + i / WIDENING)));
        }
    }

    /** Rounds float32 to bfloat16, with half the bytes. */
    public static void round(MemorySegment source, long at, int sourceBytes, MemorySegment target) {
        for (int i = 0; i < sourceBytes; i += Float.BYTES) {
            target.set(SHORT, i / WIDENING, Bfloat16.of(source.get(FLOAT, at + i)));
        }
    }

    /** Begins a reduction with the blocks of members 0 and 1, which saves a copy. */
    public void begin(MemorySegment first, long firstAt, MemorySegment second, long secondAt, int blockBytes,
            DataType elements, Reduction how) {
        type = elements;
        reduction = how;
        bytes = blockBytes;
        members = 2;
        if (type == DataType.BFLOAT16) {
            widen(first, firstAt);
            add(second, secondAt);
        } else if (how == Reduction.SUM_OF_ROUNDED) {
            round(first, firstAt);
            add(second, secondAt);
        } else {
            combine(first, firstAt, second, secondAt, result);
        }
    }

    /** Adds the block of the next member. */
    public void add(MemorySegment next, long nextAt) {
        if (reduction == Reduction.TREE_SUM) {
            addToTree(next, nextAt);
        } else {
            combine(result, 0, next, nextAt, result);
        }
    }

    /** Adds the block to the block of its neighbour, and then equally large sums to each other; or has it wait. */
    private void addToTree(MemorySegment next, long nextAt) {
        int top = Integer.bitCount(members) - 1;
        if ((members & 1) == 1) {
            combine(sum(top), 0, next, nextAt, sum(top));
            for (int pairs = members >> 1; (pairs & 1) == 1; pairs >>= 1) {
                joinTopTwo(top--);
            }
        } else {
            MemorySegment.copy(next, nextAt, sum(top + 1), 0, bytes);
        }
        members++;
    }

    private void joinTopTwo(int top) {
        combine(sum(top - 1), 0, sum(top), 0, sum(top - 1));
    }

    private MemorySegment sum(int index) {
        while (waiting.size() < index) {
            waiting.add(Arena.ofAuto().allocate(mostBytes, FLOATS.vectorByteSize()));
        }
        return index == 0 ? result : waiting.get(index - 1);
    }

    /** Writes the result; may be called several times. */
    public void write(MemorySegment target, long targetAt) {
        if (reduction == Reduction.TREE_SUM) { // of a number of members that is no power of two
            for (int top = Integer.bitCount(members) - 1; top > 0; top--) {
                joinTopTwo(top);
            }
            members = 1;
        }
        if (type == DataType.BFLOAT16) {
            for (int i = 0; i < bytes; i += Short.BYTES) {
                target.set(SHORT, targetAt + i, Bfloat16.of(result.get(FLOAT, (long) WIDENING * i)));
            }
        } else {
            MemorySegment.copy(result, 0, target, targetAt, bytes);
        }
    }

    private void widen(MemorySegment first, long firstAt) {
        for (int i = 0; i < bytes; i += Short.BYTES) {
            result.set(FLOAT, (long) WIDENING * i, Bfloat16.toFloat(first.get(SHORT, firstAt + i)));
        }
    }

    private void round(MemorySegment first, long firstAt) {
        for (int i = 0; i < bytes; i += Float.BYTES) {
            result.set(FLOAT, i, rounded(first.get(FLOAT, firstAt + i)));
        }
    }

    private static float rounded(float number) {
        return Bfloat16.toFloat(Bfloat16.of(number));
    }

    private void combine(MemorySegment left, long leftAt, MemorySegment right, long rightAt, MemorySegment sum) {
        switch (type) {
            case FLOAT32 -> {
                switch (reduction) {
                    case SUM, TREE_SUM -> addFloats(left, leftAt, right, rightAt, sum);
                    case SUM_OF_ROUNDED -> {
                        // The left operand is the sum so far.
                        for (int i = 0; i < bytes; i += Float.BYTES) {
                            result.set(FLOAT, i, result.get(FLOAT, i) + rounded(right.get(FLOAT, rightAt + i)));
                        }
                    }
                    case MAXIMUM -> {
                        for (long i = 0; i < bytes; i += Float.BYTES) {
                            result.set(FLOAT, i, Math.max(left.get(FLOAT, leftAt + i), right.get(FLOAT, rightAt + i)));
                        }
                    }
                }
            }
            case FLOAT64 -> {
                for (long i = 0; i < bytes; i += Double.BYTES) {
                    double a = left.get(DOUBLE, leftAt + i);
                    double b = right.get(DOUBLE, rightAt + i);
                    sum.set(DOUBLE, i, reduction == Reduction.MAXIMUM ? Math.max(a, b) : a + b);
                }
            }
            case BFLOAT16 -> {
                // The left operand is the sum so far.
                for (int i = 0; i < bytes; i += Short.BYTES) {
                    long at = (long) WIDENING * i;
                    float a = result.get(FLOAT, at);
                    float b = Bfloat16.toFloat(right.get(SHORT, rightAt + i));
                    result.set(FLOAT, at, reduction == Reduction.MAXIMUM ? Math.max(a, b) : a + b);
                }
            }
            case INT32 -> throw new IllegalStateException("require() lets no " + type + " pass");
        }
    }

    /**
     * Adds floats with explicit vectors: training waits for this sum, and the compiler does not vectorise loops over
     * segments.
     */
    private void addFloats(MemorySegment left, long leftAt, MemorySegment right, long rightAt, MemorySegment sum) {
        int step = FLOATS.vectorByteSize();
        int whole = bytes - bytes % step;
        for (int i = 0; i < whole; i += step) {
            FloatVector.fromMemorySegment(FLOATS, left, leftAt + i, ORDER)
                    .add(FloatVector.fromMemorySegment(FLOATS, right, rightAt + i, ORDER))
                    .intoMemorySegment(sum, i, ORDER);
        }
        for (int i = whole; i < bytes; i += Float.BYTES) {
            sum.set(FLOAT, i, left.get(FLOAT, leftAt + i) + right.get(FLOAT, rightAt + i));
        }
    }
}
