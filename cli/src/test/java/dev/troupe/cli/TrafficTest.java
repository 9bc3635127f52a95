package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bytes in {@code metrics.jsonl} against the formulas (Korthikanti et al. 2022, section 4.2; Rajbhandari et al.
 * 2020).
 */
@Tag("real")
@Dealt(5)
@Timeout(60)
class TrafficTest {
    private static final int MICROBATCH_SIZE = 2;
    private static final int SEQUENCE_LENGTH = 8;
    private static final int HIDDEN = 16;
    private static final int MICROBATCHES = 4;
    private static final int FLOAT_BYTES = 4;
    /** A hidden size with which all parameters fill whole units of 64 numbers, so that nothing is sent between them. */
    private static final int ALIGNED = 64;
    /** Of one activation, B T C. */
    private static final long ACTIVATION = (long) MICROBATCH_SIZE * SEQUENCE_LENGTH * HIDDEN * FLOAT_BYTES;

    @TempDir
    private Path directory;

    @Test
    void shouldSendAnActivationAndAGradientOverEachBorderForEachMicrobatch() {
        long borders = 3;
        assertEquals(borders * MICROBATCHES * 2 * ACTIVATION,
                bytes("pipeline", 4, "parallel.pipeline=4"));
        assertEquals(2 * borders * MICROBATCHES * 2 * ACTIVATION,
                bytes("pipeline", 4, "parallel.pipeline=4", "parallel.tensor=2"), "each of two ranks sends all of it");
        assertEquals(borders * MICROBATCHES * 2 * ACTIVATION,
                bytes("pipeline", 4, "parallel.pipeline=4", "parallel.tensor=2", "parallel.sequence=true"),
                "each of two ranks sends half of it");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReduceEightActivationsALayerInATensorGroup(boolean sequence) {
        for (int tensor : List.of(2, 4)) {
            String[] grid = {"parallel.pipeline=1", "parallel.tensor=" + tensor, "parallel.sequence=" + sequence};
            long eachRank = MICROBATCHES * 8 * ACTIVATION * (tensor - 1) / tensor;
            // Norms of a layer are summed once a step if each rank had some rows of them: two of two vectors.
            long norms = sequence ? 2 * (tensor - 1) * 4L * HIDDEN * FLOAT_BYTES / tensor : 0;
            // And once a step the sum of squares of each of its twelve tensors.
            long squares = 2 * (tensor - 1) * 12L * Double.BYTES / tensor;
            assertEquals(tensor * (eachRank + norms + squares), bytes("tensor", 3, grid) - bytes("tensor", 2, grid));
        }
    }

    /** (T-1)/T of an activation for each block and microbatch, on each of T ranks, as announced before the run. */
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "1, 2", "2, 2"})
    void shouldGatherThePartsOfEachKeptInput(int pipeline, int tensor) throws IOException {
        List<String> grid = List.of("parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor,
                "training.recompute=full");
        List<String> divided = new ArrayList<>(grid);
        divided.add("training.recompute-partition=true");
        long gathered = 4L * MICROBATCHES * tensor * ACTIVATION * (tensor - 1) / tensor;
        assertEquals(gathered, bytes("tensor", 4, divided.toArray(String[]::new))
                - bytes("tensor", 4, grid.toArray(String[]::new)));
        JsonNode announced = new ObjectMapper()
                .readTree(run("tensor", 4, divided.toArray(String[]::new)).resolve("run.json").toFile())
                .at("/certificate/gathered_input_bytes");
        assertEquals(pipeline * tensor, announced.size());
        announced.forEach(rank -> assertEquals(gathered / (pipeline * tensor), rank.asLong()));
    }

    /**
     * In parts of psi (D-1)/D numbers of psi weights, on each of D ranks (Rajbhandari et al. 2020, section 7): 2 for an
     * all-reduce of gradients, or a reduce-scatter and a gather of the updated weights. Shared gradients are
     * scattered for each microbatch; shared weights are gathered for each forward and backward, and not after the
     * update.
     */
    @ParameterizedTest
    @CsvSource({"0, 2", "1, 2", "2, " + (MICROBATCHES + 1), "3, " + 3 * MICROBATCHES})
    void shouldSendTheBytesOfThePaperAmongRanksWithTheSameWeights(int zero, int parts) {
        for (int data : List.of(2, 4)) {
            String[] grid = {"parallel.pipeline=1", "parallel.data=" + data, "training.zero=" + zero,
                    "training.global-batch-size=" + data * MICROBATCHES * MICROBATCH_SIZE, "model.hidden=" + ALIGNED};
            assertEquals(data * (parts * layer(data) * (data - 1) / data) + squares(data),
                    bytes("data", 3, grid) - bytes("data", 2, grid));
        }
    }

    /** The bytes of a layer's twelve parameters, of which each rank has the same number of units of 64 numbers. */
    private static long layer(int data) {
        long unit = 64L * data;
        return Math.ceilDiv(12L * ALIGNED * ALIGNED + 13L * ALIGNED, unit) * unit * FLOAT_BYTES;
    }

    /** The bytes of the sums of squares of a layer's twelve parameters, in float64, for the norm. */
    private static long squares(int data) {
        return 2L * (data - 1) * 12 * Double.BYTES;
    }

    /** Half of the bytes for the sums of gradients; the other half, sums or weights, is sent whole. */
    @ParameterizedTest
    @CsvSource({"0, 3", "1, 3", "2, " + (MICROBATCHES + 2)})
    void shouldSendGradientsOfHalfTheBytes(int zero, int halves) {
        int data = 2;
        String[] grid = {"parallel.pipeline=1", "parallel.data=" + data, "training.zero=" + zero,
                "training.global-batch-size=" + data * MICROBATCHES * MICROBATCH_SIZE, "model.hidden=" + ALIGNED,
                "training.gradient-exchange=bfloat16"};
        assertEquals(data * (halves * layer(data) * (data - 1) / data) / 2 + squares(data),
                bytes("data", 3, grid) - bytes("data", 2, grid));
    }

    /**
     * Every row has both experts, so each of two ranks sends the other each row, and a row comes back: in the forward, and
     * in the backward the gradient, with the weight of the row and its gradient. Loads are two numbers of two ranks.
     */
    @Test
    void shouldExchangeEachRowWithEachExpert() {
        String[] grid = {"model.family=mixtral", "model.experts=2", "model.experts-per-token=2", "parallel.pipeline=1",
                "parallel.data=2", "parallel.expert=2",
                "training.global-batch-size=" + 2 * MICROBATCHES * MICROBATCH_SIZE};
        long numbers = (long) MICROBATCH_SIZE * SEQUENCE_LENGTH * FLOAT_BYTES;
        long loads = 2L * 2 * 2 * Double.BYTES; // an all-reduce of one line: only one member sends
        assertEquals(MICROBATCHES * (2 * (4 * ACTIVATION + 2 * numbers) + loads),
                bytes("expert", 3, grid) - bytes("expert", 2, grid));
    }

    private Path run(String dimension, int layers, String... settings) {
        return directory.resolve(dimension + layers + String.join("", settings).hashCode());
    }

    private long bytes(String dimension, int layers, String... settings) {
        Path run = run(dimension, layers, settings);
        List<String> all = new ArrayList<>(
                List.of("engine.kind=reference", "engine.threads=1", "model.tie-embeddings=false",
                        "model.layers=" + layers, "model.hidden=" + HIDDEN, "model.heads=4",
                        "model.sequence-length=" + SEQUENCE_LENGTH, "training.steps=2",
                        "training.microbatch-size=" + MICROBATCH_SIZE,
                        "training.global-batch-size=" + MICROBATCHES * MICROBATCH_SIZE));
        all.addAll(List.of(settings));
        Execution.train(run, all).requireDone();
        return Math.round(RunFiles.metrics(run, "bytes_sent/" + dimension)[1]);
    }
}
