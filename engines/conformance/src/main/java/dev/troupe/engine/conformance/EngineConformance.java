package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Deal;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * The test suite of every engine: each kernel has the results of {@link dev.troupe.engine.reference.ReferenceEngine} in
 * float64 within the rounding of the engine's type, and follows the contract of {@link Engine} on bytes, memory and
 * refusals. The module of an engine extends it with a method that opens the engine. Memory, ranges, refusals and joined
 * kernels are in {@link MemoryConformance}, {@link RangeConformance}, {@link RefusalConformance} and
 * {@link JoinedConformance}.
 */
@Tag("parity")
public abstract class EngineConformance extends JoinedConformance {
    /** Elements before and after a range: odd, so that ranges are not aligned as tensors are. */
    private static final int MARGIN = 5;
    private static final int MOST_REPEATS = 30;
    /** The rounding error of BFLOAT16, relative to a number that may itself be rounded. */
    private static final double PRODUCT_UNIT = 0x1.01p-8;
    /** All cases without dropout; their contents are drawn once in a JVM, as far as memory allows. */
    private static SoftReference<List<KernelCase>> known = new SoftReference<>(null);

    protected EngineConformance() {
    }

    /** Whether the engine supports dropout; otherwise it must refuse it. */
    protected boolean dropsOut() {
        return true;
    }

    /** The number of repetitions in tests for the same bytes and the same memory. */
    protected int repeats() {
        return MOST_REPEATS;
    }

    /** Whether a case, given by kernel and sizes, runs here; a slow engine may leave some cases to another test. */
    protected boolean takes(String kernelCase) {
        return true;
    }

    /** The shares of the cases, of which a build runs one. */
    protected int shares() {
        return 1;
    }

    private boolean isDealt(String name) {
        return Deal.has(getClass().getSimpleName() + " " + name, shares());
    }

    @TestFactory
    final Stream<DynamicNode> shouldAgreeWithReference() {
        return byKernel().entrySet().stream()
                .map(kernel -> dynamicContainer(kernel.getKey(), kernel.getValue().stream()
                        .filter(kernelCase -> isDealt(kernelCase.toString())).map(
                                kernelCase -> dynamicTest(kernelCase.variant(),
                                        () -> agrees(engine(), kernelCase, 0)))));
    }

    @TestFactory
    final Stream<DynamicTest> shouldAgreeWithReferenceOnRanges() {
        return typical().map(kernelCase -> dynamicTest(kernelCase.toString(),
                () -> agrees(engine(), kernelCase, MARGIN)));
    }

    @TestFactory
    final Stream<DynamicTest> shouldAgreeWithReferenceOnTwoThreads() {
        return typical().map(kernelCase -> dynamicTest(kernelCase.toString(), () -> {
            try (Engine wide = open(2)) {
                agrees(wide, kernelCase, 0);
            }
        }));
    }

    @TestFactory
    final Stream<DynamicTest> shouldGiveTheSameBytesAgain() {
        return typical().map(kernelCase -> dynamicTest(kernelCase.toString(), () -> {
            try (Trial trial = new Trial(engine(), kernelCase)) {
                byte[][] first = results(trial);
                try (Engine fresh = open(1); Trial again = new Trial(fresh, kernelCase)) {
                    assertSame(kernelCase, first, results(again), "on a fresh engine");
                }
                for (int i = 0; i < repeats(); i++) {
                    trial.reset(numbers -> numbers);
                    assertSame(kernelCase, first, results(trial), "on call " + (i + 2));
                }
            }
        }));
    }

    @TestFactory
    final Stream<DynamicTest> shouldRecomputeGeluToTheByte() {
        // The last is large enough for engines that cut products into panels.
        return Stream.of(new int[]{1, 1}, new int[]{17, 33}, new int[]{7, 1030}, new int[]{180, 1339})
                .map(sizes -> dynamicTest(String.format(Locale.ROOT, "N %d M %d", sizes[0], sizes[1]), () -> {
                    KernelCase kernelCase = MatrixCases.linearGelu(sizes[0], 97, sizes[1]);
                    for (int threads : new int[]{1, 2}) {
                        try (Engine engine = open(threads); Trial trial = new Trial(engine, kernelCase)) {
                            trial.run();
                            Tensor preActivation = trial.tensor(kernelCase.indexOf("preActivation"));
                            byte[] expected = HostMemory.bytes(engine, trial.tensor(kernelCase.indexOf("y")));
                            try (Tensor again = engine.allocate(preActivation.dataType(), preActivation.shape())) {
                                engine.gelu(preActivation, again);
                                assertArrayEquals(expected, HostMemory.bytes(engine, again));
                            }
                            engine.gelu(preActivation, preActivation);
                            assertArrayEquals(expected, HostMemory.bytes(engine, preActivation), "in place");
                        }
                    }
                }));
    }

    @TestFactory
    final Stream<DynamicTest> shouldNormalizeTheExactSumWithAResidual() {
        return Stream.of(new int[]{1, 1}, new int[]{17, 33}, new int[]{97, 1030})
                .map(sizes -> dynamicTest(String.format(Locale.ROOT, "N %d C %d", sizes[0], sizes[1]), () -> {
                    KernelCase kernelCase = NormCases.forward(sizes[0], sizes[1], true);
                    UnaryOperator<double[]> rounded = numbers -> Arrays.stream(numbers).map(Math::sin).toArray();
                    for (int threads : new int[]{1, 2}) {
                        try (Engine engine = open(threads); Trial trial = new Trial(engine, kernelCase)) {
                            trial.reset(rounded);
                            trial.run();
                            byte[][] inOne = trial.bytes();
                            trial.reset(rounded);
                            NormCases.addThenNormalize(engine, trial);
                            assertSame(kernelCase, trial.bytes(), inOne, "than of the sum made before");
                        }
                    }
                }));
    }

    @TestFactory
    final Stream<DynamicTest> shouldKeepTheSameMemoryAfterRepeatedKernels() {
        return typical().map(kernelCase -> dynamicTest(kernelCase.toString(), () -> {
            long before = engine().allocatedBytes();
            try (Trial trial = new Trial(engine(), kernelCase)) {
                results(trial);
                long once = engine().allocatedBytes();
                for (int i = 0; i < repeats(); i++) {
                    trial.run();
                }
                assertEquals(once, engine().allocatedBytes(),
                        kernelCase + ": allocatedBytes after " + repeats() + " more calls");
            }
            assertEquals(before, engine().allocatedBytes(),
                    kernelCase + ": allocatedBytes after all tensors were closed");
        }));
    }

    @TestFactory
    final Stream<DynamicTest> shouldRefuseWhatDoesNotFitAndWriteNothing() {
        return typical().filter(kernelCase -> kernelCase.operands().size() > 1)
                .flatMap(kernelCase -> kernelCase.operands().stream()
                        .map(operand -> dynamicTest(kernelCase + " with another " + operand.name(),
                                () -> refusesMisfits(kernelCase, operand))));
    }

    /** A tensor of this type and shape in the place of an operand. */
    private record Misfit(DataType dataType, Shape shape) {
    }

    private List<Misfit> misfits(Operand operand) {
        DataType right = operand.elements().on(engine());
        Shape shape = operand.shape().apply(engine());
        List<Misfit> misfits = new ArrayList<>();
        for (DataType wrong : EnumSet.of(DataType.INT32, engine().parameterType(), engine().computeType())) {
            if (wrong != right && !(operand.isOfEitherType() && wrong != DataType.INT32)) {
                misfits.add(new Misfit(wrong, shape));
            }
        }
        int[] deeper = Arrays.copyOf(shape.toArray(), shape.rank() + 1);
        deeper[shape.rank()] = 1;
        misfits.add(new Misfit(right, Shape.of(deeper)));
        for (int dimension = 0; dimension < shape.rank(); dimension++) {
            if (dimension != operand.freeDimension()) {
                int[] larger = shape.toArray();
                larger[dimension]++;
                misfits.add(new Misfit(right, Shape.of(larger)));
            }
        }
        return misfits;
    }

    private void refusesMisfits(KernelCase kernelCase, Operand operand) {
        int place = kernelCase.indexOf(operand.name());
        try (Trial trial = new Trial(engine(), kernelCase)) {
            trial.prepare();
            byte[][] before = trial.bytes();
            for (Misfit misfit : misfits(operand)) {
                String name = String.format(Locale.ROOT, "%s with %s %s %s", kernelCase, operand.name(),
                        misfit.dataType, misfit.shape);
                try (Tensor other = engine().allocate(misfit.dataType, misfit.shape)) {
                    byte[] otherBefore = HostMemory.bytes(engine(), other);
                    assertThrows(IllegalArgumentException.class, () -> trial.runWith(place, other), name);
                    assertSame(kernelCase, before, trial.bytes(), "although the call was refused: " + name);
                    assertArrayEquals(otherBefore, HostMemory.bytes(engine(), other),
                            name + " was written although the call was refused");
                }
            }
        }
    }

    private static void agrees(Engine engine, KernelCase kernelCase, int margin) {
        Truth truth = Truth.of(kernelCase, engine.computeType());
        try (Trial trial = new Trial(engine, kernelCase, engine.computeType(), margin)) {
            trial.prepare();
            byte[][] before = trial.bytes();
            trial.run();
            byte[][] after = trial.bytes();
            for (int i = 0; i < kernelCase.operands().size(); i++) {
                Operand operand = kernelCase.operands().get(i);
                switch (operand.role()) {
                    case INPUT, PREPARED -> assertArrayEquals(before[i], after[i],
                            () -> kernelCase + ": " + operand.name() + " is an input but was written"
                                    + from(kernelCase));
                    case OUTPUT -> withinTolerance(engine, kernelCase, operand, truth, truth.after(i),
                            trial.numbers(i));
                    case STATE -> {
                        // Its contents are private to the engine; the backward kernel tests them.
                    }
                }
            }
            assertTrue(trial.marginsAreUntouched(margin), kernelCase + " wrote outside a range");
        }
    }

    private static void withinTolerance(Engine engine, KernelCase kernelCase, Operand operand, Truth truth,
            double[] expected, double[] found) {
        // Below the smallest normal number a type has fewer bits than its unit implies.
        boolean single = engine.parameterType() == DataType.FLOAT32;
        double unit = single ? 0x1p-24 : 0x1p-53;
        double smallest = single ? Float.MIN_NORMAL : Double.MIN_NORMAL;
        for (int i = 0; i < expected.length; i++) {
            double allowed = unit * operand.tolerance().unitsAt(truth, i)
                    + rounding(engine, operand, truth, i, expected)
                    + smallest;
            if (!(Math.abs(found[i] - expected[i]) <= allowed)) {
                fail(String.format(Locale.ROOT, "%s: %s[%d] is %s, but the reference has %s, and may differ by %s%s",
                        kernelCase,
                        operand.name(), i, found[i], expected[i], allowed, from(kernelCase)));
            }
        }
    }

    /** The error of an engine of two types in storing an element, and inside the kernel. */
    private static double rounding(Engine engine, Operand operand, Truth truth, int i, double[] expected) {
        if (engine.computeType() == engine.parameterType()) {
            return 0;
        }
        double inside = operand.innerRounding() == null ? 0 : operand.innerRounding().unitsAt(truth, i);
        double stored = operand.elements() == Operand.Elements.PRODUCTS ? Math.abs(expected[i]) : 0;
        return PRODUCT_UNIT * (stored + inside);
    }

    private static byte[][] results(Trial trial) {
        trial.prepare();
        trial.run();
        return trial.bytes();
    }

    private static void assertSame(KernelCase kernelCase, byte[][] expected, byte[][] found, String when) {
        for (int i = 0; i < expected.length; i++) {
            String name = kernelCase.operands().get(i).name();
            assertTrue(Arrays.equals(expected[i], found[i]),
                    () -> kernelCase + ": " + name + " has other bytes " + when + from(kernelCase));
        }
    }

    private static String from(KernelCase kernelCase) {
        return " (seed " + kernelCase.seed() + ")";
    }

    /** The last case of each kernel: of the largest shape, and with every flag set. */
    private Stream<KernelCase> typical() {
        return byKernel().values().stream().map(List::getLast).filter(last -> isDealt(last.kernelName()));
    }

    private Map<String, List<KernelCase>> byKernel() {
        Map<String, List<KernelCase>> cases = new LinkedHashMap<>();
        cases(dropsOut()).filter(kernelCase -> takes(kernelCase.toString())).forEach(kernelCase -> cases
                .computeIfAbsent(kernelCase.kernelName(), name -> new ArrayList<>()).add(kernelCase));
        return cases;
    }

    static synchronized Stream<KernelCase> cases(boolean dropsOut) {
        List<KernelCase> all = known.get();
        if (all == null) {
            all = Stream.of(ElementwiseCases.all(), MatrixCases.all(), NormCases.all(), RmsNormCases.all(),
                    AttentionCases.all(), GroupedAttentionCases.all(), VocabularyCases.all(), RoutingCases.all())
                    .flatMap(List::stream)
                    .toList();
            known = new SoftReference<>(all);
        }
        Stream<List<KernelCase>> dropping = dropsOut
                ? Stream.of(MatrixCases.dropping(), AttentionCases.dropping(), GroupedAttentionCases.dropping())
                : Stream.of();
        return Stream.concat(all.stream(), dropping.flatMap(List::stream));
    }
}
