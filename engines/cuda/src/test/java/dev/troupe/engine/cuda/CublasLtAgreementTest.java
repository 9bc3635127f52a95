package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Products by the stand-in for cuBLASLt against the engine's own kernels, on the interpreter. */
@Tag("parity")
class CublasLtAgreementTest {
    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "BFLOAT16"})
    void shouldMultiplyLikeTheEnginesOwnKernels(DataType computeType) {
        try (Engine own = Interpreted.engine(computeType);
                Engine library = Interpreted.withCublasLt(Interpreted.device(), computeType)) {
            new ProductAgreement(own, library, 24, 40, 56).hold();
        }
    }
}
