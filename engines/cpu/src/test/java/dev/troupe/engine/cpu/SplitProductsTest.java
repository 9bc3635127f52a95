package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Products of split floats. On processors without AMX all are of whole floats, and the same bars hold. */
@Tag("parity")
class SplitProductsTest {
    private static final int SAMPLES = 300;
    /** The error of bf16x6 in errors of float32, as the root of the mean square. */
    private static final double OF_FLOAT32 = 1.5;
    /** Likewise the largest of the samples for {@link Numbers#FULL}: 1.57 was measured, for others at most 1.42. */
    private static final double LARGEST_OF_FULL = 2;
    /** The products that bf16x3 leaves out: one of 2^-16 of the whole at most, and two of 2^-17. */
    private static final double OF_TWO_PARTS = 0x1p-15;

    private final Random random = new Random(11);

    /** Operands, each hard in its own way. */
    enum Numbers {
        NORMAL {
            @Override
            float draw(Random random, int index) {
                return (float) random.nextGaussian();
            }
        },
        /** Sums grow, and rounding with them. */
        POSITIVE {
            @Override
            float draw(Random random, int index) {
                return 1 + random.nextFloat();
            }
        },
        /** Every bit after the first part is as large as it can be. */
        FULL {
            @Override
            float draw(Random random, int index) {
                return Float.intBitsToFloat(0x3f807fff + (random.nextInt(128) << 16)) * (random.nextBoolean() ? 1 : -1);
            }
        },
        WIDE {
            @Override
            float draw(Random random, int index) {
                return (float) (random.nextGaussian() * Math.pow(2, random.nextInt(41) - 20));
            }
        },
        /** Wider than the units can serve. */
        WIDEST {
            @Override
            float draw(Random random, int index) {
                return (float) (random.nextGaussian() * Math.pow(2, random.nextInt(121) - 60));
            }
        },
        /** Each number is nearly the opposite of the one before. */
        CANCELLING {
            private float last;

            @Override
            float draw(Random random, int index) {
                last = index % 2 == 0 ? (float) random.nextGaussian() : Math.nextUp(-last);
                return last;
            }
        },
        TINY {
            @Override
            float draw(Random random, int index) {
                return (float) (random.nextGaussian() * 0x1p-70);
            }
        },
        SUBNORMAL {
            @Override
            float draw(Random random, int index) {
                return random.nextInt(2_000_000) * Float.MIN_VALUE;
            }
        };

        abstract float draw(Random random, int index);

        float[] of(Random random, int count) {
            float[] numbers = new float[count];
            for (int i = 0; i < count; i++) {
                numbers[i] = draw(random, i);
            }
            return numbers;
        }
    }

    @Dealt(4)
    @ParameterizedTest
    @EnumSource
    void shouldBeAsAccurateAsWholeFloats(Numbers kind) {
        double largest = kind == Numbers.FULL ? LARGEST_OF_FULL : OF_FLOAT32;
        for (int[] size : new int[][]{{160, 512, 1536}, {160, 2048, 512}, {130, 517, 901}}) {
            for (int form = 0; form < 4; form += size[0] == 160 ? 3 : 1) {
                Product product = new Product(size[0], size[1], size[2], (form & 1) != 0, (form & 2) != 0, kind,
                        random);
                double[] whole = product.errors(0);
                double[] split = product.errors(3);
                String what = kind + " " + Arrays.toString(size) + " form " + form + ": " + Arrays.toString(split)
                        + ", of whole floats " + Arrays.toString(whole);
                assertTrue(split[0] <= largest * whole[0] && split[1] <= OF_FLOAT32 * whole[1], what);
                double[] two = product.errors(2);
                assertTrue(two[0] <= Math.max(OF_TWO_PARTS, OF_FLOAT32 * whole[0]), what + ", of two parts " + two[0]);
            }
        }
    }

    /** The gradient of a weight at the size of a wide step, added to the sum of others. */
    @Test
    void shouldAddGradientsAsAccurately() {
        Product product = new Product(512, 1024, 512, true, false, Numbers.NORMAL, random);
        product.addTo(Numbers.NORMAL.of(random, 512 * 512));
        double[] whole = product.errors(0);
        double[] split = product.errors(3);
        assertTrue(split[0] <= OF_FLOAT32 * whole[0] && split[1] <= OF_FLOAT32 * whole[1],
                Arrays.toString(split) + ", of whole floats " + Arrays.toString(whole));
    }

    @Test
    void shouldSplitOnAmx() {
        Product product = new Product(128, 512, 512, false, false, Numbers.NORMAL, random);
        assertEquals(Tiles.obstacle().isPresent(), Arrays.equals(product.on(0, 1), product.on(3, 1)));
    }

    @ParameterizedTest
    @CsvSource({"2", "3"})
    void shouldTreatWhatIsNoNumberAsFloatsDo(int parts) {
        float[] special = {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN, Float.MAX_VALUE,
                -Float.MAX_VALUE, Float.MIN_VALUE, Float.MIN_NORMAL, -0f, 0x1.fffp127f};
        for (float one : special) {
            Product product = new Product(160, 256, 256, false, false, Numbers.NORMAL, random);
            product.left[5 * 256 + 7] = one;
            product.right[9 * 256 + 3] = one;
            float[] whole = product.on(0, 1);
            float[] split = product.on(parts, 1);
            for (int i = 0; i < whole.length; i++) {
                int at = i;
                float near = Float.isFinite(whole[i]) ? Math.max(0x1p-10f, 0x1p-15f * Math.abs(whole[i])) : 0x1p-149f;
                assertEquals(whole[i], split[i], near, () -> one + " at " + at);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2", "3"})
    void shouldGiveTheSameBytesOnAnyThreadsAndForAnyRowsAround(int parts) {
        Product product = new Product(300, 517, 901, false, false, Numbers.NORMAL, random);
        float[] alone = product.on(parts, 1);
        assertArrayEquals(alone, product.on(parts, 3));
        if (Tiles.obstacle().isEmpty()) {
            Product fewer = new Product(140, 517, 901, false, false, Numbers.NORMAL, random);
            System.arraycopy(product.left, 0, fewer.left, 0, fewer.left.length);
            System.arraycopy(product.right, 0, fewer.right, 0, fewer.right.length);
            assertArrayEquals(Arrays.copyOf(alone, 140 * 901), fewer.on(parts, 1));
        }
    }

    @Test
    void shouldSplitAParameterAgainAfterAChangeAndCountItsMemory() {
        try (Engine engine = engine(3, 1)) {
            Shape shape = Shape.of(512, 300);
            Tensor x = tensor(engine, Numbers.NORMAL.of(random, 200 * 512), 200, 512);
            Tensor buffer = tensor(engine, Numbers.NORMAL.of(random, 512 * 300), 512 * 300);
            Tensor weights = engine.range(buffer, 0, shape);
            Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(200, 300));
            long before = engine.allocatedBytes();
            Supplier<float[]> result = () -> {
                engine.matmul(x, false, weights, false, y, false);
                return read(engine, y);
            };
            float[] first = result.get();
            assertEquals(engine.packedCopyBytes(shape, 200), engine.allocatedBytes() - before,
                    0.1 * buffer.byteCount());
            assertArrayEquals(first, result.get());
            engine.copyFromHost(MemorySegment.ofArray(Numbers.NORMAL.of(random, 512)), weights, 0);
            float[] changed = result.get();
            assertFalse(Arrays.equals(first, changed));
            Tensor same = tensor(engine, read(engine, weights), 512, 300);
            engine.matmul(x, false, same, false, y, false);
            assertArrayEquals(changed, read(engine, y));
        }
    }

    @Test
    void shouldWarnWithoutAmx() {
        CpuEngineProvider provider = new CpuEngineProvider();
        EngineSettings split = new EngineSettings(DataType.FLOAT32, 1).withFloatParts(3);
        assertEquals(Tiles.obstacle().map(why -> "products of float32 are computed exactly, since " + why
                + ": engine.float32-products gains nothing here"), provider.caution(split));
        assertEquals(Optional.empty(), provider.caution(split.withFloatParts(0)));
    }

    /** A product with its operands. */
    private static final class Product {
        private final int m;
        private final int k;
        private final int n;
        private final boolean transposeLeft;
        private final boolean transposeRight;
        private final float[] left;
        private final float[] right;
        private float[] sum;

        Product(int m, int k, int n, boolean transposeLeft, boolean transposeRight, Numbers kind, Random random) {
            this.m = m;
            this.k = k;
            this.n = n;
            this.transposeLeft = transposeLeft;
            this.transposeRight = transposeRight;
            left = kind.of(random, m * k);
            right = (kind == Numbers.SUBNORMAL ? Numbers.NORMAL : kind).of(random, k * n);
        }

        void addTo(float[] other) {
            sum = other;
        }

        float[] on(int parts, int threads) {
            try (Engine engine = engine(parts, threads)) {
                Tensor product = sum == null
                        ? engine.allocate(DataType.FLOAT32, Shape.of(m, n))
                        : tensor(engine, sum, m, n);
                engine.matmul(tensor(engine, left, transposeLeft ? k : m, transposeLeft ? m : k), transposeLeft,
                        tensor(engine, right, transposeRight ? n : k, transposeRight ? k : n), transposeRight, product,
                        sum != null);
                return read(engine, product);
            }
        }

        /** The largest error and the root of the mean square, by float64, in sums of magnitudes. */
        double[] errors(int parts) {
            float[] found = on(parts, 1);
            Random places = new Random(3);
            double largest = 0;
            double squares = 0;
            for (int sample = 0; sample < SAMPLES; sample++) {
                int row = sample < 2 ? sample * (m - 1) : places.nextInt(m);
                int column = sample < 2 ? sample * (n - 1) : places.nextInt(n);
                double expected = sum == null ? 0 : sum[row * n + column];
                double magnitudes = Math.abs(expected);
                for (int i = 0; i < k; i++) {
                    double term = (double) left[transposeLeft ? i * m + row : row * k + i]
                            * right[transposeRight ? column * k + i : i * n + column];
                    expected += term;
                    magnitudes += Math.abs(term);
                }
                double error = Math.abs(found[row * n + column] - expected) / magnitudes;
                largest = Math.max(largest, error);
                squares += error * error;
            }
            return new double[]{largest, Math.sqrt(squares / SAMPLES)};
        }
    }

    private static Engine engine(int parts, int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, threads).withFloatParts(parts));
    }

    private static Tensor tensor(Engine on, float[] numbers, int... sizes) {
        Tensor tensor = on.allocate(DataType.FLOAT32, Shape.of(sizes));
        on.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    private static float[] read(Engine on, Tensor tensor) {
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        on.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        return numbers;
    }
}
