package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.troupe.engine.Engine;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The promise of kernels that join several: they leave the bytes that those leave, one after another. */
abstract class JoinedConformance extends RefusalConformance {
    /** Elements before a range: such that some ranges begin at 16 bytes, as tensors do, and some do not. */
    private static final int[] MARGINS = {0, 5};

    /**
     * A kernel that joins several.
     *
     * @param kernelCase
     *            one call of it
     * @param apart
     *            the calls of the others on the same tensors
     */
    record Joined(KernelCase kernelCase, KernelCase.Call apart) {
    }

    @TestFactory
    final Stream<DynamicTest> shouldLeaveTheBytesOfTheKernelsThatAreJoined() {
        return Stream.of(ElementwiseCases.joined()).flatMap(List::stream)
                .map(joined -> dynamicTest(joined.kernelCase.toString(), () -> {
                    for (int threads : new int[]{1, 2}) {
                        try (Engine engine = open(threads)) {
                            for (int margin : MARGINS) {
                                leavesTheSame(engine, joined, margin);
                            }
                        }
                    }
                }));
    }

    private static void leavesTheSame(Engine engine, Joined joined, int margin) {
        try (Trial trial = new Trial(engine, joined.kernelCase, engine.computeType(), margin)) {
            joined.apart.call(engine, trial.tensors());
            byte[][] apart = trial.bytes();
            trial.reset(numbers -> numbers);
            trial.run();
            byte[][] together = trial.bytes();
            for (int i = 0; i < apart.length; i++) {
                assertArrayEquals(apart[i], together[i], joined.kernelCase + ": "
                        + joined.kernelCase.operands().get(i).name() + " of ranges from element " + margin + " on");
            }
        }
    }
}
