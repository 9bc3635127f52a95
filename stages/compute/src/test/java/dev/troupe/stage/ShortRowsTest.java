package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.TokenKernels;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Microbatches without their padding compute the same as with it. */
@Tag("parity")
class ShortRowsTest {
    private static final int LONGEST = 48;
    private static final int LENGTH = 16;
    private static final int[] TOKENS_OF_ROW = {16, 9};

    @ParameterizedTest
    @CsvSource({"gpt2, NONE", "gpt2, FULL", "llama, SELECTIVE", "llama, NONE", "mixtral, NONE", "mixtral, FULL"})
    void shouldHaveTheLossAndTheGradientsOfPaddedRows(String family, Recompute recompute) {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64);
                Stage padded = stage(engine, family, recompute);
                Stage cut = stage(engine, family, recompute)) {
            Map<String, double[]> expected = gradients(engine, padded, rows(family, LONGEST));
            Map<String, double[]> found = gradients(engine, cut, rows(family, LENGTH));
            assertEquals(padded.loss(0), cut.loss(0), 1e-12);
            expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), 1e-12, name));
        }
    }

    /** The longest has all buffers, and the shorter ones their beginnings. */
    @Test
    void shouldTakeNoMoreMemoryForManyLengths() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT32);
                Stage stage = stage(engine, "llama", Recompute.NONE)) {
            gradients(engine, stage, rows("llama", LONGEST));
            long bytes = engine.allocatedBytes();
            gradients(engine, stage, rows("llama", LENGTH));
            gradients(engine, stage, rows("llama", 32));
            assertTrue(engine.allocatedBytes() <= bytes, () -> engine.allocatedBytes() + " after " + bytes);
        }
    }

    private static Stage stage(Engine engine, String family, Recompute recompute) {
        Map<String, Object> values = new HashMap<>(Map.of("layers", 2, "hidden", 8, "heads", 2, "sequence-length",
                LONGEST, "vocabulary-size", 11, "tie-embeddings", true));
        if (family.equals("mixtral")) {
            values.put("experts", 3);
        }
        ModelSpec model = ModelFamilies.named(family).read(new Section(values));
        return Stage.create(engine, Partition.uniform(model, 1), 0,
                new StageSettings(2, LONGEST, 1, new Optimizer.Sgd(0), recompute, new DropoutSettings(0.2, 3),
                        !family.equals("gpt2")),
                new InitialWeights(model, 1));
    }

    /** Returns two rows of tokens with some that do not count, padded to a length; the first may have two documents. */
    private static MicrobatchRows rows(String family, int length) {
        MicrobatchRows rows = new MicrobatchRows(2 * LONGEST, !family.equals("gpt2"));
        rows.setTokenCount(2 * length);
        for (int row = 0; row < 2; row++) {
            for (int token = 0; token < length; token++) {
                int at = row * length + token;
                boolean isPadding = token >= TOKENS_OF_ROW[row];
                rows.inputs()[at] = isPadding ? 0 : (7 * token + 3 * row) % 11;
                rows.targets()[at] = isPadding || token % 3 == 1
                        ? TokenKernels.NOT_COUNTED
                        : (7 * token + 7 + 3 * row) % 11;
                if (rows.starts() != null) {
                    rows.starts()[at] = isPadding ? TOKENS_OF_ROW[row] : row == 0 && token >= 5 ? 5 : 0;
                }
            }
        }
        rows.setTargetsPerMicrobatch(16);
        return rows;
    }

    private static Map<String, double[]> gradients(Engine engine, Stage stage, MicrobatchRows rows) {
        stage.enterStep(0, 0);
        stage.forward(0, null, rows);
        stage.backwardInput(0, null);
        stage.backwardWeight(0);
        Map<String, double[]> gradients = new TreeMap<>();
        for (StateTensor gradient : stage.gradients()) {
            Shape shape = gradient.tensor().shape();
            byte[] bytes = new byte[(int) gradient.tensor().byteCount()];
            engine.copyToHost(gradient.tensor(), 0, MemorySegment.ofArray(bytes));
            double[] values = new double[(int) shape.elementCount()];
            for (int i = 0; i < values.length; i++) {
                values[i] = engine.parameterType() == DataType.FLOAT64
                        ? MemorySegment.ofArray(bytes).getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i)
                        : MemorySegment.ofArray(bytes).getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
            }
            gradients.put(gradient.name(), values);
        }
        return gradients;
    }
}
