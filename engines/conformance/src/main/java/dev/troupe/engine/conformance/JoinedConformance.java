package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.troupe.engine.Engine;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The conformance tests of joined kernels, which give the same bytes as their parts one after another, at any alignment of
 * operands.
 */
abstract class JoinedConformance extends RefusalConformance {
    /** Elements before a range: some ranges are aligned to 16 bytes, as tensors are, and some are not. */
    private static final int[] MARGINS = {0, 5};

    /**
     * A kernel that joins several.
     *
     * @param apart the calls of the joined kernels on the same tensors
     */
    record Joined(KernelCase kernelCase, KernelCase.Call apart) {
    }

    @TestFactory
    final Stream<DynamicTest> shouldLeaveTheBytesOfTheJoinedKernels() {
        return Stream
                .of(ElementwiseCases.joined(), NormCases.joined(), RmsNormCases.joined(), VocabularyCases.joined())
                .flatMap(List::stream).map(joined -> dynamicTest(joined.kernelCase.toString(), () -> {
                    byte[][] expected = null;
                    for (int threads : new int[]{1, 2}) {
                        try (Engine engine = open(threads)) {
                            for (int margin : MARGINS) {
                                String where = String.format(Locale.ROOT, " of ranges from element %d on, %d threads",
                                        margin, threads);
                                byte[][] apart = bytes(engine, joined.kernelCase, joined.apart, margin);
                                byte[][] together = bytes(engine, joined.kernelCase, joined.kernelCase.kernel(),
                                        margin);
                                expected = expected == null ? apart : expected;
                                assertSame(joined.kernelCase, expected, apart, where);
                                assertSame(joined.kernelCase, expected, together, " in one call" + where);
                            }
                        }
                    }
                }));
    }

    private static byte[][] bytes(Engine engine, KernelCase kernelCase, KernelCase.Call call, int margin) {
        try (Trial trial = new Trial(engine, kernelCase, engine.computeType(), margin)) {
            call.call(engine, trial.tensors());
            return trial.bytes();
        }
    }

    private static void assertSame(KernelCase kernelCase, byte[][] expected, byte[][] found, String where) {
        for (int i = 0; i < expected.length; i++) {
            assertArrayEquals(expected[i], found[i], kernelCase + ": " + kernelCase.operands().get(i).name() + where);
        }
    }
}
