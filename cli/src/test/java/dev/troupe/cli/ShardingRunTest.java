package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs with a sharding plan, against runs without one. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class ShardingRunTest {
    private static final Path DICTIONARY = Path.of("../stages/models/src/test/resources/sharding/layer-tp-plan.py");
    private static final String PLAN = "parallel.sharding=";
    private static final List<String> MODEL = List.of("model.family=llama", "model.layers=2", "model.hidden=16",
            "model.heads=4", "model.key-value-heads=4", "model.inner=12", "model.sequence-length=8",
            "model.tie-embeddings=false", "engine.kind=reference", "engine.threads=1", "training.steps=2",
            "training.microbatch-size=2", "training.global-batch-size=8", "parallel.pipeline=1");

    @TempDir
    private Path directory;

    private Path train(String name, List<String> settings, String... more) {
        Path run = directory.resolve(name);
        Execution.train(run, together(settings, more)).requireDone();
        return run;
    }

    private static List<String> together(List<String> settings, String... more) {
        return Stream.concat(settings.stream(), Arrays.stream(more)).toList();
    }

    private static String printed(List<String> settings, String... more) {
        List<String> arguments = new ArrayList<>(List.of("layout", "--plan"));
        together(settings, more).forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Door door = Door.call(arguments.toArray(String[]::new));
        assertEquals(ExitCode.DONE, door.exitCode(), door.refusal());
        return door.output();
    }

    @Test
    void shouldPrintThePlanOfTheDocuments() throws IOException {
        String printed = printed(List.of("model.family=llama", "parallel.tensor=2", "parallel.sequence=true"));
        String page = Files.readString(Path.of("../docs/sharding.md"));
        int first = page.indexOf("layer h.*.attention");
        String shown = page.substring(first, page.indexOf("```", first));
        assertTrue(printed.contains(shown), printed);
    }

    /** The plan that is printed for a run, given to the same run. */
    @ParameterizedTest(name = "tensor {0}, sequence {1}, zero {2}")
    @CsvSource({"1, false, 0", "1, false, 3", "2, false, 1", "2, true, 2", "4, false, 3", "4, true, 0"})
    void shouldHaveTheBitsOfARunWithoutAPlan(int tensor, boolean sequence, int zero) throws IOException {
        List<String> settings = together(MODEL, "parallel.tensor=" + tensor, "parallel.data=2",
                "training.zero=" + zero);
        String printed = printed(settings, "parallel.sequence=" + sequence);
        Path plan = Files.writeString(directory.resolve("plan.txt"), printed);
        RunFiles.assertSameBits(train("without", settings, "parallel.sequence=" + sequence),
                train("with", settings, PLAN + plan));
        assertEquals(withoutComments(printed), withoutComments(printed(settings, PLAN + plan)));
    }

    private static List<String> withoutComments(String plan) {
        return plan.lines().map(line -> line.replaceAll(" *#.*", "")).toList();
    }

    @Test
    void shouldReadADictionaryOfPyTorchAsSequenceParallelism() {
        List<String> settings = together(MODEL, "parallel.tensor=2", "parallel.data=2");
        RunFiles.assertSameBits(train("without", settings, "parallel.sequence=true"),
                train("with", settings, PLAN + DICTIONARY));
    }

    /** Rules of a layout for data, for tensor-parallel ranks, for both, and for experts. */
    @ParameterizedTest
    @CsvSource({"batch -> data, parallel.data=2", "'vocabulary, heads, inner -> tensor', parallel.tensor=2",
            "'vocabulary, heads, inner -> tensor; batch -> data', parallel.tensor=2 parallel.data=2"})
    void shouldHaveTheBitsOfTheAxesOfItsRules(String rules, String axes) {
        List<String> settings = together(MODEL, axes.split(" "));
        RunFiles.assertSameBits(train("without", settings), train("with", settings, PLAN + rules));
    }

    /** The rows of torchtitan's table for experts: divided or not, with sequence parallelism or without. */
    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void shouldHaveTheBitsOfDividedExperts(int expert, boolean sequence) throws IOException {
        List<String> settings = together(MODEL, "model.family=mixtral", "model.experts=4", "parallel.tensor=2",
                "parallel.data=2", "parallel.expert=" + expert);
        Path run = train("without", settings, "parallel.sequence=" + sequence);
        String rules = "vocabulary, heads, inner" + (sequence ? ", rows" : "") + " -> tensor; batch -> data"
                + (expert > 1 ? "; experts -> expert" : "");
        RunFiles.assertSameBits(run, train("by-rules", settings, PLAN + rules));
        Path plan = Files.writeString(directory.resolve("plan.txt"), printed(settings, PLAN + rules));
        RunFiles.assertSameBits(run, train("by-text", settings, PLAN + plan));
    }

    @Test
    void shouldHaveTheBitsOfExpertsAlone() {
        List<String> settings = together(MODEL, "model.family=mixtral", "model.experts=4", "parallel.data=2",
                "parallel.expert=2");
        RunFiles.assertSameBits(train("without", settings),
                train("with", settings, PLAN + "batch -> data; experts -> expert"));
    }

    /**
     * Ranks send the bytes of the plan, and once a step the gradients of norms of own rows. A plan without
     * moves sends what every run does, once a step.
     */
    @ParameterizedTest
    @ValueSource(strings = {"vocabulary, heads, inner -> tensor", "vocabulary, heads, inner, rows -> tensor",
            "heads -> tensor", "inner, rows -> tensor", "rows -> tensor"})
    void shouldSendTheBytesOfThePlan(String rules) {
        List<String> settings = together(MODEL, "parallel.tensor=2");
        Matcher numbers = Pattern.compile("sends ([\\d,]+) numbers").matcher(printed(settings, PLAN + rules));
        assertTrue(numbers.find());
        long ofMicrobatch = Long.parseLong(numbers.group(1).replace(",", ""));
        long norms = rules.contains("rows") ? 5 * 16 : 0;
        assertEquals(2 * Float.BYTES * (4 * ofMicrobatch + norms),
                tensorBytes(train("run", settings, PLAN + rules))
                        - tensorBytes(train("none", settings, PLAN + "batch -> data")));
    }

    private static long tensorBytes(Path run) {
        return Math.round(RunFiles.metrics(run, "bytes_sent/tensor")[1]);
    }

    /** Three ranks do not divide four heads, so each computes attention whole. */
    @Test
    void shouldDivideWhatDividesAndComputeTheRestWhole() {
        List<String> settings = together(MODEL, "training.precision=float64");
        double[] alone = RunFiles.metrics(train("alone", settings), "loss");
        double[] shared = RunFiles.metrics(train("shared", settings, "parallel.tensor=3",
                PLAN + "inner, vocabulary -> tensor"), "loss");
        for (int step = 0; step < alone.length; step++) {
            assertEquals(alone[step], shared[step], 1e-9 * alone[step]);
        }
    }

    /** A whole attention and divided MLPs with settings that other parts of a run read. */
    @ParameterizedTest
    @ValueSource(strings = {"training.recompute=full training.recompute-partition=true",
            "training.recompute=full training.layer-drop.keep=0.5", "training.lora.rank=2", "training.dropout=0.2",
            "engine.exact-rows=true", "parallel.invariant=[data] parallel.data=2 training.zero=2",
            "model.family=mixtral model.experts=4"})
    void shouldTrainAsOneRankWithOtherSettings(String others) {
        List<String> settings = together(MODEL, others.split(" "));
        settings = together(settings, "training.precision=float64");
        double[] alone = RunFiles.metrics(train("alone", settings), "loss");
        for (String rules : List.of("heads, inner -> tensor", "inner, rows -> tensor")) {
            if (rules.contains("heads") || !others.contains("experts")) {
                double[] shared = RunFiles.metrics(train(rules.substring(0, 5), settings, "parallel.tensor=2",
                        PLAN + rules + (others.contains("data") ? "; batch -> data" : "")), "loss");
                assertArrayEquals(alone, shared, 1e-9);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "heads, hidden -> tensor | line 1: | both dimensions | heads and hidden",
            "batch, experts -> data | line 1: | both dimensions | batch and experts",
            "inner -> data | line 1: | inner cannot be cut | on the axis data",
            "heads, iner -> tensor | line 1: | no dimension iner | the nearest is inner",
            "'vocabulary, heads, inner -> tensor' | does not divide the heads, 4 | parallel.tensor = 3 | h.0.attention"})
    void shouldRefuseRules(String rules, String first, String second, String third) {
        Execution.train(directory.resolve("run"), together(MODEL, "parallel.tensor=3", PLAN + rules))
                .requireRefused("parallel.sharding: ", first, second, third);
    }

    @Test
    void shouldRefuseADictionaryWithItsLine() throws IOException {
        List<String> lines = Files.readAllLines(DICTIONARY);
        int line = 1 + lines.indexOf("\"attention.wo\": RowwiseParallel(output_layouts=Shard(1)),");
        List<String> misspelt = new ArrayList<>(lines);
        misspelt.set(line - 1, lines.get(line - 1).replace("wo", "w0"));
        refuse(misspelt, "line " + line + ":", "attention.w0", "the nearest name is attention.w");
        List<String> other = new ArrayList<>(lines);
        other.set(line - 1, lines.get(line - 1).replace("Rowwise", "Colwise"));
        refuse(other, "line " + line + ":", "cut along hidden");
        List<String> withoutOutput = new ArrayList<>(lines);
        withoutOutput.set(line - 1, "\"attention.wo\": RowwiseParallel(),");
        refuse(withoutOutput, "line " + line + ":", "the residual stream is cut rows");
    }

    private void refuse(List<String> dictionary, String... parts) throws IOException {
        Path plan = Files.write(directory.resolve("plan.py"), dictionary);
        Execution.train(directory.resolve("run"), together(MODEL, "parallel.tensor=2", PLAN + plan))
                .requireRefused(parts);
    }

    @Test
    void shouldRefuseAPlanThatContradictsOtherKeys() {
        Execution.train(directory.resolve("run"), together(MODEL, "parallel.tensor=2", "parallel.sequence=true",
                PLAN + "inner -> tensor")).requireRefused("parallel.sequence = true", "parallel.sharding");
        Execution.train(directory.resolve("run"), together(MODEL, "parallel.data=2", PLAN + "inner -> tensor"))
                .requireRefused("parallel.data = 2", "batch -> data");
        Execution.train(directory.resolve("run"), together(MODEL, "parallel.data=2",
                "training.replicas.mode=diloco", "training.replicas.inner-steps=1", PLAN + "batch -> data"))
                .requireRefused("training.replicas.mode = diloco",
                        "sharding plan");
    }

    @Test
    void shouldRefuseAFileWithoutAPlan() throws IOException {
        Path nowhere = directory.resolve("nowhere");
        Execution.train(directory.resolve("run"), together(MODEL, PLAN + nowhere))
                .requireRefused("parallel.sharding", nowhere + ", which does not exist");
        Path empty = Files.writeString(directory.resolve("empty"), "\n");
        Execution.train(directory.resolve("run"), together(MODEL, PLAN + empty))
                .requireRefused("parallel.sharding", empty + ", which is empty");
        Execution.train(directory.resolve("run"), together(MODEL, PLAN + directory))
                .requireRefused("parallel.sharding", directory + ", which cannot be read as text");
    }
}
