package dev.troupe.engine.nd4j;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Sums in float64, in the order of the elements, by a plain loop over the buffer: ND4J adds in the type of the elements,
 * and in an order that depends on its threads. On a GPU it costs a copy of the tensor to the host.
 */
final class HostSums {
    /** Interleaved sums, so that an addition does not wait for the previous one. */
    private static final int LANES = 4;

    private HostSums() {
    }

    static double sum(Nd4jTensor tensor) {
        MemorySegment bytes = Nd4jMemory.hostBytes(tensor);
        return switch (tensor.dataType()) {
            case FLOAT32 -> floats(bytes, tensor.shape().elementCount(), false);
            case FLOAT64 -> doubles(bytes, tensor.shape().elementCount(), false);
            case INT32, BFLOAT16 -> throw new IllegalArgumentException(
                    "sum: tensor must be a float tensor, but is " + tensor.dataType());
        };
    }

    static double squaredSum(Nd4jTensor tensor) {
        MemorySegment bytes = Nd4jMemory.hostBytes(tensor);
        return switch (tensor.dataType()) {
            case FLOAT32 -> floats(bytes, tensor.shape().elementCount(), true);
            case FLOAT64 -> doubles(bytes, tensor.shape().elementCount(), true);
            case INT32, BFLOAT16 -> throw new IllegalArgumentException(
                    "squaredSum: tensor must be a float tensor, but is " + tensor.dataType());
        };
    }

    /** Writes a sum for a later copy to the host. */
    static void put(double sum, Nd4jTensor sums, int index) {
        Nd4jMemory.hostBytes(sums).setAtIndex(ValueLayout.JAVA_DOUBLE, index, sum);
        Nd4jMemory.hostBytesWritten(sums);
    }

    private static double floats(MemorySegment bytes, long length, boolean squared) {
        double[] sums = new double[LANES];
        for (long i = 0; i < length; i++) {
            double element = bytes.getAtIndex(ValueLayout.JAVA_FLOAT, i);
            sums[(int) (i % LANES)] += squared ? element * element : element;
        }
        return sums[0] + sums[1] + (sums[2] + sums[3]);
    }

    private static double doubles(MemorySegment bytes, long length, boolean squared) {
        double[] sums = new double[LANES];
        for (long i = 0; i < length; i++) {
            double element = bytes.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
            sums[(int) (i % LANES)] += squared ? element * element : element;
        }
        return sums[0] + sums[1] + (sums[2] + sums[3]);
    }
}
