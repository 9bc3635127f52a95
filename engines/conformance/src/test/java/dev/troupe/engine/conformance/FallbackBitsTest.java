package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.bare.BareEngine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.conformance.share.Deal;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** An engine that falls back has the bits of the reference engine, in each type. */
@Tag("parity")
class FallbackBitsTest {
    private static final int MARGIN = 5;
    private static final int SHARES = 3;

    @TestFactory
    Stream<DynamicTest> shouldHaveTheBitsOfTheReferenceInFloat32() {
        return tests(DataType.FLOAT32, DataType.FLOAT32);
    }

    @TestFactory
    Stream<DynamicTest> shouldHaveTheBitsOfTheReferenceInBfloat16() {
        return tests(DataType.FLOAT32, DataType.BFLOAT16);
    }

    private static Stream<DynamicTest> tests(DataType parameterType, DataType computeType) {
        return EngineConformance.cases(true)
                .filter(kernelCase -> Deal.has(computeType + " " + kernelCase, SHARES))
                .map(kernelCase -> dynamicTest(kernelCase.toString(), () -> {
                    byte[][] expected = bytes(new ReferenceEngine(new EngineSettings(parameterType, computeType, 1)),
                            kernelCase);
                    byte[][] found = bytes(new CheckedEngine(new BareEngine(parameterType, computeType)), kernelCase);
                    for (int i = 0; i < expected.length; i++) {
                        assertArrayEquals(expected[i], found[i], kernelCase.operands().get(i).name());
                    }
                }));
    }

    /** The bytes of all operands after the call, each of them a range. */
    private static byte[][] bytes(Engine opened, KernelCase kernelCase) {
        try (Engine engine = opened; Trial trial = new Trial(engine, kernelCase, engine.computeType(), MARGIN)) {
            trial.prepare();
            trial.run();
            return trial.bytes();
        }
    }
}
