package dev.troupe.engine.conformance;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Tensors as arrays of this JVM, and back. */
final class HostMemory {
    private HostMemory() {
    }

    static byte[] bytes(Engine engine, Tensor tensor) {
        byte[] bytes = new byte[Math.toIntExact(tensor.byteCount())];
        engine.copyToHost(tensor, 0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    static double[] read(Engine engine, Tensor tensor) {
        ByteBuffer bytes = ByteBuffer.wrap(bytes(engine, tensor)).order(ByteOrder.LITTLE_ENDIAN);
        double[] numbers = new double[(int) tensor.shape().elementCount()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = switch (tensor.dataType()) {
                case FLOAT32 -> bytes.getFloat();
                case FLOAT64 -> bytes.getDouble();
                case INT32 -> bytes.getInt();
                case BFLOAT16 -> Bfloat16.toFloat(bytes.getShort());
            };
        }
        return numbers;
    }

    static void write(Engine engine, Tensor tensor, double[] numbers) {
        engine.copyFromHost(MemorySegment.ofArray(encoded(tensor.dataType(), numbers)), tensor, 0);
    }

    static byte[] encoded(DataType dataType, double[] numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * dataType.elementBytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        for (double number : numbers) {
            switch (dataType) {
                case FLOAT32 -> bytes.putFloat((float) number);
                case FLOAT64 -> bytes.putDouble(number);
                case INT32 -> bytes.putInt((int) number);
                case BFLOAT16 -> bytes.putShort(Bfloat16.of((float) number));
            }
        }
        return bytes.array();
    }
}
