package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.DoubleBinaryOperator;

/** A group of threads that meet at a barrier and read each other's copies; it keeps a list of its calls. */
public final class InMemoryGroup {
    private static final long DEADLINE_SECONDS = 120;

    /** The kind of an operation. */
    public enum Operation {
        ALL_REDUCE, ALL_REDUCE_MAX, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL;

        /**
         * Returns how often the whole passes from each member to its neighbour on a ring, but for one part of {@code size}.
         */
        public int turns() {
            return switch (this) {
                case ALL_REDUCE, ALL_REDUCE_MAX -> 2;
                case REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL -> 1;
            };
        }
    }

    /** One operation of the group, and the count of its numbers. */
    public record Call(Operation operation, long elements) {
        /** Returns the numbers that each member sends, by the ring algorithm. */
        public double sentByEach(int size) {
            return (double) operation.turns() * elements * (size - 1) / size;
        }
    }

    private final int size;
    private final CyclicBarrier barrier;
    private final double[][] given;
    private final List<Call> calls = new ArrayList<>();

    public InMemoryGroup(int size) {
        this.size = size;
        this.barrier = new CyclicBarrier(size);
        this.given = new double[size][];
    }

    /** Returns the group for one member, for its own thread. */
    public TensorGroup member(int rank, Engine engine) {
        return new Member(rank, engine);
    }

    /** Returns the calls so far, each operation once. Between steps. */
    public List<Call> calls() {
        return List.copyOf(calls);
    }

    private final class Member implements TensorGroup {
        private final int rank;
        private final Engine engine;

        private Member(int rank, Engine engine) {
            this.rank = rank;
            this.engine = engine;
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public int rank() {
            return rank;
        }

        @Override
        public void allReduce(Tensor tensor) {
            write(combined(Operation.ALL_REDUCE, HostCopies.read(engine, tensor), sum(tensor.dataType())), 0, tensor);
        }

        @Override
        public void allReduce(double[] values) {
            double[] sums = combined(Operation.ALL_REDUCE, values.clone(), Double::sum);
            System.arraycopy(sums, 0, values, 0, values.length);
        }

        @Override
        public void allReduceMax(Tensor tensor) {
            write(combined(Operation.ALL_REDUCE_MAX, HostCopies.read(engine, tensor), Math::max), 0, tensor);
        }

        @Override
        public void reduceScatter(Tensor whole, Tensor slice) {
            requireParts(whole, slice);
            double[] sums = combined(Operation.REDUCE_SCATTER, HostCopies.read(engine, whole), sum(whole.dataType()));
            engine.fill(whole, Double.NaN); // nobody may count on what is left in it
            write(sums, rank * slice.shape().elementCount(), slice);
        }

        @Override
        public void allGather(Tensor slice, Tensor whole) {
            requireParts(whole, slice);
            double[] own = HostCopies.read(engine, slice);
            double[] all = new double[Math.toIntExact(whole.shape().elementCount())];
            System.arraycopy(own, 0, all, rank * own.length, own.length);
            write(combined(Operation.ALL_GATHER, all, Double::sum), 0, whole);
        }

        @Override
        public void allToAll(Tensor source, int[][] rows, Tensor target) {
            int width = Math.toIntExact(target.shape().elementCount() / target.shape().size(0));
            given[rank] = HostCopies.read(engine, source);
            meet();
            double[] taken = new double[Math.toIntExact(target.shape().elementCount())];
            Arrays.fill(taken, Double.NaN); // nobody may count on further rows
            int next = 0;
            for (int from = 0; from < size; from++) {
                int first = Arrays.stream(rows[from], 0, rank).sum() * width;
                System.arraycopy(given[from], first, taken, next, rows[from][rank] * width);
                next += rows[from][rank] * width;
            }
            if (rank == 0) {
                calls.add(new Call(Operation.ALL_TO_ALL, next));
            }
            meet();
            write(taken, 0, target);
        }

        private void requireParts(Tensor whole, Tensor slice) {
            if (slice.shape().size(0) * size != whole.shape().size(0) || slice.dataType() != whole.dataType()) {
                throw new IllegalArgumentException(
                        slice.shape() + " is no slice of " + whole.shape() + " in a group of " + size);
            }
        }

        private double[] combined(Operation operation, double[] own, DoubleBinaryOperator operator) {
            given[rank] = own;
            meet();
            double[] result = given[0].clone();
            for (int other = 1; other < size; other++) {
                for (int i = 0; i < result.length; i++) {
                    result[i] = operator.applyAsDouble(result[i], given[other][i]);
                }
            }
            if (rank == 0) {
                calls.add(new Call(operation, own.length));
            }
            meet();
            return result;
        }

        private void meet() {
            try {
                barrier.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException | BrokenBarrierException missed) {
                throw new IllegalStateException("a member of the group did not come within " + DEADLINE_SECONDS + " s",
                        missed);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("rank " + rank + " was interrupted", interrupted);
            }
        }

        private void write(double[] values, long from, Tensor tensor) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
                for (int i = 0; i < tensor.shape().elementCount(); i++) {
                    double value = values[Math.toIntExact(from + i)];
                    if (tensor.dataType() == DataType.FLOAT32) {
                        bytes.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) value);
                    } else {
                        bytes.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
                    }
                }
                engine.copyFromHost(bytes, tensor, 0);
            }
        }

        private static DoubleBinaryOperator sum(DataType dataType) {
            return dataType == DataType.FLOAT32 ? (left, right) -> (float) (left + right) : Double::sum;
        }
    }
}
