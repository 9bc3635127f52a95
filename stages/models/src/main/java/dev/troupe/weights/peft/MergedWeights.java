package dev.troupe.weights.peft;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The weights of a model with its adapters merged into the matrices (Hu et al. 2022, section 4.1): {@code W + s B A}. The
 * product is computed in float64, and the sum rounded once. W [M x K], or [K x M] if the family stores inputs first, to
 * which the transposed product is added; A [r x K], B [M x r].
 *
 * <p>Thread rule: any thread, as far as the source allows it.
 */
public final class MergedWeights implements WeightSource {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ModelSpec adapted;
    private final WeightSource source;
    private final double scale;

    /**
     * Merges adapters.
     *
     * @param source has the weights of the model and of its adapters
     */
    public MergedWeights(ModelSpec adapted, WeightSource source) {
        this.adapted = adapted;
        this.source = source;
        this.scale = adapted.lora()
                .orElseThrow(() -> new IllegalArgumentException("there are no adapters to merge")).scale();
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        source.read(name, shape, parameterType, target);
        ParameterSpec down = name.endsWith(".weight") ? adapted.parameters().get(Lora.nameOfDown(name)) : null;
        if (down == null) {
            return;
        }
        ParameterSpec up = adapted.parameters().get(Lora.nameOfUp(name));
        double[] a = doubles(down);
        double[] b = doubles(up);
        int rank = down.shape().sizes().size(0);
        if (adapted.family().storesInputsFirst()) {
            addProduct(transposed(a, rank), transposed(b, b.length / rank), rank, shape, target, parameterType);
        } else {
            addProduct(b, a, rank, shape, target, parameterType);
        }
    }

    /** Adds {@code s left right}, left [rows x rank], right [rank x columns]. */
    private void addProduct(double[] left, double[] right, int rank, Shape shape, MemorySegment target, DataType type) {
        int columns = shape.size(1);
        double[] row = new double[columns];
        for (int m = 0; m < shape.size(0); m++) {
            Arrays.fill(row, 0);
            for (int r = 0; r < rank; r++) {
                double factor = scale * left[m * rank + r];
                for (int k = 0; k < columns; k++) {
                    row[k] += factor * right[r * columns + k];
                }
            }
            add(row, target, type, (long) m * columns);
        }
    }

    private static double[] transposed(double[] matrix, int rows) {
        int columns = matrix.length / rows;
        double[] transposed = new double[matrix.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                transposed[column * rows + row] = matrix[row * columns + column];
            }
        }
        return transposed;
    }

    private static void add(double[] row, MemorySegment target, DataType type, long at) {
        for (int k = 0; k < row.length; k++) {
            switch (type) {
                case FLOAT32 ->
                    target.setAtIndex(FLOAT, at + k, (float) (target.getAtIndex(FLOAT, at + k) + row[k]));
                case FLOAT64 -> target.setAtIndex(DOUBLE, at + k, target.getAtIndex(DOUBLE, at + k) + row[k]);
                default -> throw new IllegalArgumentException("weights are FLOAT32 or FLOAT64, not " + type);
            }
        }
    }

    private double[] doubles(ParameterSpec parameter) {
        int count = Math.toIntExact(parameter.elementCount());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(DOUBLE, count);
            source.read(parameter.name(), parameter.shape().sizes(), DataType.FLOAT64, values);
            double[] doubles = new double[count];
            for (int i = 0; i < count; i++) {
                doubles[i] = values.getAtIndex(DOUBLE, i);
            }
            return doubles;
        }
    }
}
