package dev.troupe.layer;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A pool of reusable tensors, by type and shape: a steady state allocates nothing. A tensor of a short microbatch is the
 * beginning of a longest one, so that other lengths need no more memory.
 *
 * <p>Thread rule: {@link #take} and {@link #close} on the thread that computes, {@link #give} on any.
 */
public final class TensorPool implements AutoCloseable {
    /**
     * The shapes of one tensor of a microbatch, by the length of the microbatch's sequences.
     *
     * <p>Thread rule: one thread.
     */
    public static final class Extent {
        private final int longest;
        private final Shape whole;
        private final IntFunction<Shape> shapes;
        private final Map<Integer, Shape> shorter = new HashMap<>();

        /**
         * @param longest tokens of a sequence of the run
         * @param shapes the shape for each length from 1 to {@code longest}; none has more elements than a longer one
         */
        Extent(int longest, IntFunction<Shape> shapes) {
            this.longest = longest;
            this.whole = shapes.apply(longest);
            this.shapes = shapes;
        }

        public Shape whole() {
            return whole;
        }

        /** Returns the same shapes, of two dimensions, with further rows. */
        public Extent with(int furtherRows) {
            return new Extent(longest, length -> Shape.of(of(length).size(0) + furtherRows, of(length).size(1)));
        }

        /** Returns the length of a microbatch with {@code rows} rows in its tensor; the longest if none has. */
        public int lengthOf(int rows) {
            long length = (long) rows * longest / whole.size(0);
            boolean isExact = length * whole.size(0) == (long) rows * longest;
            return isExact && length >= 1 && length <= longest ? (int) length : longest;
        }

        public Shape of(int length) {
            if (length == longest) {
                return whole;
            }
            Shape known = shorter.get(length);
            if (known == null) {
                known = shapes.apply(length);
                shorter.put(length, known);
            }
            return known;
        }
    }

    /**
     * The free buffers of a pool.
     *
     * @param bytes of all
     * @param largestBytes of the largest
     */
    public record Free(long bytes, long largestBytes) {
        public static final Free NONE = new Free(0, 0);

        /** Returns the free buffers of both. */
        public Free and(Free other) {
            return new Free(bytes + other.bytes, Math.max(largestBytes, other.largestBytes));
        }
    }

    private final Engine engine;
    // Guarded by this. Every buffer is in exactly one of the two maps, so that a second give is noticed.
    private final Map<DataType, Map<Shape, ArrayDeque<Buffer>>> idle = new EnumMap<>(DataType.class);
    private final Map<Tensor, Buffer> taken = new IdentityHashMap<>();

    /** An allocated tensor and its beginnings, each created once. */
    private record Buffer(Tensor whole, Map<Shape, Tensor> beginnings) {
        Tensor as(Shape shape, Engine engine) {
            if (shape.equals(whole.shape())) {
                return whole;
            }
            Tensor known = beginnings.get(shape);
            if (known == null) {
                known = engine.beginning(whole, shape);
                beginnings.put(shape, known);
            }
            return known;
        }
    }

    public TensorPool(Engine engine) {
        this.engine = engine;
        for (DataType dataType : DataType.values()) {
            idle.put(dataType, new HashMap<>());
        }
    }

    /** Returns a tensor of the engine's product type, as for activations, with any content; the caller gives it back. */
    public Tensor take(Shape shape) {
        return take(engine.computeType(), shape);
    }

    /** Returns a tensor of the engine's float type with any content; the caller gives it back. */
    public Tensor takeFloats(Shape shape) {
        return take(engine.parameterType(), shape);
    }

    /** Returns a tensor with any content; the caller gives it back. */
    public Tensor take(DataType dataType, Shape shape) {
        return take(dataType, shape, shape);
    }

    /** Returns a tensor of a microbatch of this length, of the engine's product type, as {@link #take(Shape)}. */
    public Tensor take(Extent extent, int length) {
        return take(engine.computeType(), extent, length);
    }

    /** Returns a tensor of a microbatch of this length, of the engine's float type, as {@link #takeFloats(Shape)}. */
    public Tensor takeFloats(Extent extent, int length) {
        return take(engine.parameterType(), extent, length);
    }

    /** Returns a tensor of a microbatch of this length with any content; the caller gives it back. */
    public Tensor take(DataType dataType, Extent extent, int length) {
        return take(dataType, extent.whole(), extent.of(length));
    }

    /** Returns a tensor of the same type and shape, with any content; the caller gives it back. */
    public synchronized Tensor takeLike(Tensor tensor) {
        return take(tensor.dataType(), taken.get(tensor).whole().shape(), tensor.shape());
    }

    private synchronized Tensor take(DataType dataType, Shape whole, Shape shape) {
        ArrayDeque<Buffer> shelf = idle.get(dataType).get(whole);
        Buffer buffer = shelf == null || shelf.isEmpty()
                ? new Buffer(engine.allocate(dataType, whole), new HashMap<>())
                : shelf.pop();
        Tensor tensor = buffer.as(shape, engine);
        taken.put(tensor, buffer);
        return tensor;
    }

    /** Replaces a taken tensor by one of another shape in the same buffer. */
    public synchronized Tensor reshape(Tensor tensor, Shape shape) {
        Buffer buffer = untake(tensor);
        Tensor other = buffer.as(shape, engine);
        taken.put(other, buffer);
        return other;
    }

    /**
     * Takes a tensor back; the last one given is the next one taken.
     *
     * @throws IllegalArgumentException if the tensor was not taken here, or is given back already
     */
    public synchronized void give(Tensor tensor) {
        Buffer buffer = untake(tensor);
        idle.get(tensor.dataType()).computeIfAbsent(buffer.whole().shape(), _ -> new ArrayDeque<>()).push(buffer);
    }

    /**
     * Exchanges a tensor that was taken here for one that was taken from another pool of the same engine. Each then counts
     * as taken from the other pool, with its content; the pools keep their numbers of buffers.
     *
     * @throws IllegalArgumentException if a tensor was not taken, or the buffers are of different types or shapes
     */
    public void exchange(Tensor own, TensorPool other, Tensor others) {
        Buffer mine = untake(own);
        Buffer theirs = other.untake(others);
        if (own.dataType() != others.dataType() || !mine.whole().shape().equals(theirs.whole().shape())) {
            retake(own, mine);
            other.retake(others, theirs);
            throw new IllegalArgumentException("a buffer of " + own.dataType() + " " + mine.whole().shape()
                    + " cannot be exchanged for one of " + others.dataType() + " " + theirs.whole().shape());
        }
        retake(others, theirs);
        other.retake(own, mine);
    }

    private synchronized void retake(Tensor tensor, Buffer buffer) {
        taken.put(tensor, buffer);
    }

    private synchronized Buffer untake(Tensor tensor) {
        Buffer buffer = taken.remove(tensor);
        if (buffer == null) {
            throw new IllegalArgumentException(
                    "a tensor of shape " + tensor.shape() + " was given to a pool that it was"
                            + " not taken from, or a second time: give each tensor once, to the stage it came from");
        }
        return buffer;
    }

    /** Gives a tensor back unless it is null; returns null, for the field that held it. */
    public Tensor drop(Tensor tensor) {
        if (tensor != null) {
            give(tensor);
        }
        return null;
    }

    /** Returns the buffers that are not taken. */
    public synchronized Free free() {
        return idle.values().stream().flatMap(shelves -> shelves.values().stream()).flatMap(ArrayDeque::stream)
                .map(buffer -> new Free(buffer.whole().byteCount(), buffer.whole().byteCount()))
                .reduce(Free.NONE, Free::and);
    }

    /** Closes every tensor, including those still taken. */
    @Override
    public synchronized void close() {
        taken.values().forEach(buffer -> buffer.whole().close());
        taken.clear();
        for (Map<Shape, ArrayDeque<Buffer>> shelves : idle.values()) {
            shelves.values().forEach(shelf -> shelf.forEach(buffer -> buffer.whole().close()));
            shelves.clear();
        }
    }
}
