package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs on rows of very different lengths, of which the microbatches are as long as their longest row. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class UnequalRowsTest {
    private static final int LONGEST = 64;
    /** Each global batch of 8 has a row of all tokens. */
    private static final int[][] LENGTHS = {{5, 64, 16, 17, 3, 20, 31, 9}, {8, 8, 2, 64, 40, 12, 33, 15}};

    @TempDir
    private Path directory;
    private Path rows;

    @BeforeEach
    void writeRows() throws IOException {
        rows = Files.writeString(directory.resolve("rows.jsonl"), Arrays.stream(LENGTHS).flatMapToInt(Arrays::stream)
                .mapToObj(UnequalRowsTest::row).collect(Collectors.joining()));
    }

    @AfterEach
    void breakNothing() {
        FaultyEngineProvider.breakNothing();
    }

    /** Two documents, but for the shortest rows. */
    private static String row(int tokens) {
        int first = tokens < 8 ? tokens : tokens / 3;
        String documents = first == tokens
                ? document(tokens, 1)
                : document(first, 1) + "," + document(tokens - first, 2);
        return "{\"documents\": [" + documents + "]}\n";
    }

    private static String document(int tokens, int seed) {
        return "{\"ids\": " + IntStream.range(0, tokens).mapToObj(i -> seed * i * i * 5 % 23 + "").toList()
                + ", \"counted\": " + IntStream.range(0, tokens).mapToObj(i -> i % 4 == 2 ? "0" : "1").toList() + "}";
    }

    private List<String> settings(String... more) {
        List<String> settings = new ArrayList<>(List.of("model.family=llama", "model.layers=2", "model.hidden=16",
                "model.heads=4", "model.tie-embeddings=false",
                "model.vocabulary-size=256",
                "model.sequence-length=" + LONGEST, "data.path=" + rows, "data.order=sequential",
                "training.global-batch-size=8", "training.steps=2", "engine.kind=reference",
                "training.precision=float64", "data.cache=none"));
        settings.addAll(List.of(more));
        return settings;
    }

    private Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    /** The padded computation is a microbatch of the whole batch, which has a row of all tokens. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            1, 1, 1, 1, 1f1b, ''
            2, 1, 1, 1, zbv, ''
            2, 1, 1, 2, 1f1b, training.recompute=full
            1, 2, 2, 1, gpipe, training.zero=3
            2, 2, 1, 2, 1f1b, parallel.sequence=true
            """)
    void shouldTrainAsPaddedRowsDo(int pipeline, int tensor, int data, int microbatchSize, String schedule,
            String more) {
        Path padded = train("padded", settings("training.microbatch-size=8"));
        List<String> settings = settings("parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor,
                "parallel.data=" + data, "training.microbatch-size=" + microbatchSize, "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + (schedule.equals("zbv") ? 2 : 1), "parallel.layout=parameters");
        if (!more.isEmpty()) {
            settings.add(more);
        }
        Path cut = train("cut", settings);
        double[] losses = RunFiles.metrics(padded, "loss");
        double[] norms = RunFiles.metrics(padded, "gradient_norm");
        for (int step = 0; step < 2; step++) {
            assertEquals(losses[step], RunFiles.metrics(cut, "loss")[step], 1e-9 * losses[step]);
            assertEquals(norms[step], RunFiles.metrics(cut, "gradient_norm")[step], 1e-9 * norms[step]);
        }
        Map<String, double[]> weights = RunFiles.tensors(RunFiles.exported(cut));
        RunFiles.tensors(RunFiles.exported(padded))
                .forEach((name, values) -> assertArrayEquals(values, weights.get(name), 1e-6, name));
    }

    /** Of a row of several documents each sees itself alone when it is computed again, too. */
    @ParameterizedTest
    @CsvSource({"1f1b, reference, 1, 1"})
    void shouldReplayRowsOfDocumentsAheadOfTheirGradients(String schedule, String engine, int virtualStages, int tensor)
            throws IOException {
        List<String> settings = settings("parallel.pipeline=2", "training.microbatch-size=1",
                "training.precision=float32", "training.dropout=0.1", "parallel.layout=parameters",
                "engine.kind=" + engine, "parallel.schedule=" + schedule, "parallel.virtual-stages=" + virtualStages,
                "parallel.tensor=" + tensor);
        Path kept = train("kept", settings);
        settings.add("training.recompute=full");
        Path inside = train("inside", settings);
        settings.add("training.recompute-ahead=all");
        Path ahead = train("ahead", settings);
        assertTrue(Files.readString(ahead.resolve("run.json")).contains("0RECOMPUTE0"), "no replay in the plan");
        for (Path again : List.of(inside, ahead)) {
            assertEquals(RunFiles.results(kept), RunFiles.results(again));
            assertArrayEquals(RunFiles.exportedBytes(kept), RunFiles.exportedBytes(again));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"zbv, cpu, 2, 1", "1f1b, cpu, 1, 2", "zb-h1, cpu, 1, 1", "pipedream-2bw, reference, 1, 1"})
    void shouldReplayRowsOfDocumentsAheadUnderOtherPlans(String schedule, String engine, int virtualStages, int tensor)
            throws IOException {
        shouldReplayRowsOfDocumentsAheadOfTheirGradients(schedule, engine, virtualStages, tensor);
    }

    /** Each of two ranks receives as many rows as both have for its experts; every product has its operands of before. */
    @ParameterizedTest
    @CsvSource({"1f1b, 1, none", "zbv, 2, full", "pipedream-2bw, 1, none"})
    void shouldExchangeRowsOfUnequalMicrobatches(String schedule, int virtualStages, String recompute) {
        List<String> settings = settings("model.family=mixtral", "model.experts=4", "model.auxiliary-loss=0.01",
                "parallel.pipeline=2", "parallel.data=2", "training.microbatch-size=1", "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "parallel.layout=parameters",
                "training.recompute=" + recompute);
        Path whole = train("whole", settings);
        settings.add("parallel.expert=2");
        Path divided = train("divided", settings);
        for (String metric : List.of("loss", "auxiliary_loss", "gradient_norm")) {
            double[] expected = RunFiles.metrics(whole, metric);
            double[] found = RunFiles.metrics(divided, metric);
            assertEquals(expected[0], found[0], metric.equals("gradient_norm") ? 1e-12 * expected[0] : 0, metric);
            assertEquals(expected[1], found[1], 1e-9 * expected[1], metric);
        }
        Map<String, double[]> weights = RunFiles.tensors(RunFiles.exported(divided));
        RunFiles.tensors(RunFiles.exported(whole))
                .forEach((name, values) -> assertArrayEquals(values, weights.get(name), 1e-6, name));
    }

    /** Messages have the lengths of their microbatches: fewer bytes than padded rows would take. */
    @Test
    void shouldSendNoPadding() {
        Path run = train("run", settings("parallel.pipeline=2", "training.microbatch-size=1"));
        double[] bytes = RunFiles.metrics(run, "bytes_sent/pipeline");
        for (int step = 0; step < 2; step++) {
            int tokens = Arrays.stream(LENGTHS[step]).map(length -> Math.ceilDiv(length, 16) * 16).sum();
            assertEquals(2L * tokens * 16 * Double.BYTES, (long) bytes[step], "step " + step);
        }
    }

    @ParameterizedTest
    @CsvSource({"1f1b, 1, groupedAttentionBackward, 6", "zbv, 1, groupedAttention, 7"})
    void shouldEndWithTheSameBitsAfterAFailureInsideAStep(String schedule, int rank, String kernel, int call) {
        List<String> settings = settings("parallel.pipeline=2", "training.microbatch-size=1", "training.dropout=0.1",
                "parallel.schedule=" + schedule, "parallel.virtual-stages=" + (schedule.equals("zbv") ? 2 : 1),
                "parallel.layout=parameters", "engine.kind=" + FaultyEngineProvider.KIND, "training.precision=float32");
        Path whole = train("whole", settings);
        FaultyEngineProvider.breakCall(rank, kernel, call);
        Path run = train("run", settings);
        assertTrue(FaultyEngineProvider.hasBroken(), "nothing failed");
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }
}
