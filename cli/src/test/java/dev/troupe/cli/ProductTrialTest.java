package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The product by which the doctor judges an engine. */
@Tag("parity")
class ProductTrialTest {
    /** An engine with products of which one element in a hundred is wrong. */
    private static final class WrongProvider extends WrappingEngineProvider {
        WrongProvider() {
            super("wrong");
        }

        @Override
        Around around(Engine engine) {
            return (method, arguments) -> {
                Object result = WrappedEngine.call(engine, method, arguments);
                if (method.getName().equals("matmul")) {
                    Tensor product = (Tensor) arguments[4];
                    int elementBytes = product.dataType().elementBytes();
                    for (long element = 0; element < product.shape().elementCount(); element += 97) {
                        engine.copyFromHost(MemorySegment.ofArray(new byte[elementBytes]), product,
                                element * elementBytes);
                    }
                }
                return result;
            };
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldFindARightProductRightAndAWrongOneWrong(DataType computeType) {
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, computeType, 1);
        ProductTrial right = ProductTrial.of(new ReferenceEngineProvider(), settings);
        assertTrue(right.isRight() && right.flops() > 0, right.text());
        assertTrue(right.text().startsWith("multiplies right, "), right.text());
        ProductTrial wrong = ProductTrial.of(new WrongProvider(), settings);
        assertFalse(wrong.isRight());
        assertEquals("multiplies WRONG: this engine cannot be used here", wrong.text());
    }
}
