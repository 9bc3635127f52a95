package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Section;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.sharding.ShardingCheck;
import dev.troupe.sharding.ShardingException;
import dev.troupe.sharding.ShardingPlan;
import dev.troupe.sharding.ShardingRules;
import dev.troupe.sharding.ShardingText;
import dev.troupe.stage.InMemoryGroup.Call;
import dev.troupe.stage.TensorPipelines.Setup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Sharding plans as layers execute them: against one rank, against what they announce, and each plan with one edit. */
@Tag("parity")
@Dealt(3)
class ShardingPlansTest {
    private static final double TOLERANCE = 1e-9;
    private static final int MICROBATCH_SIZE = 2;
    private static final List<String> TYPES = List.of("replicated, sum", "replicated", "invariant", "invariant, first",
            "invariant, sum", "cut hidden", "cut inner", "cut attended", "cut vocabulary", "partial");

    /** A rule of a layout, with the ranks of a group. */
    @ParameterizedTest(name = "{0} on {1} ranks of {2}")
    @CsvSource({"'heads -> tensor', 2, gpt2", "'inner -> tensor', 2, gpt2", "'vocabulary -> tensor', 2, gpt2",
            "'heads, rows -> tensor', 2, gpt2", "'inner, rows -> tensor', 2, gpt2",
            "'vocabulary, rows -> tensor', 2, gpt2", "'rows -> tensor', 2, gpt2", "'inner -> tensor', 3, gpt2",
            "'heads, rows -> tensor', 2, qwen3", "'inner, vocabulary -> tensor', 2, qwen3",
            "'vocabulary, heads, inner, rows -> tensor', 2, qwen3", "'batch -> data', 2, qwen3"})
    void shouldTrainAsOneRank(String rules, int size, String family) {
        ModelSpec model = family.equals("gpt2") ? gpt2(size == 3 ? 12 : 16) : rotary("qwen3", false);
        assertTrains(model, lowered(model, rules, size).sharding(), size, Recompute.NONE, 0.2);
        assertTrains(model, lowered(model, rules, size).sharding(), size, Recompute.FULL, 0);
    }

    /** A model that has one part whole at a time, in stages of half blocks. */
    private static ModelSpec gpt2(int hidden) {
        return new Gpt2(2, hidden, 4, 20, 67, true, Gpt2.NORM_EPSILON).spec();
    }

    private static ModelSpec rotary(String family, boolean tied) {
        return ModelFamilies.named(family).read(new Section(Map.of("layers", 2, "hidden", 16, "heads", 4,
                "key-value-heads", 2, "inner", 12, "sequence-length", 20, "vocabulary-size", 67, "tie-embeddings",
                tied)));
    }

    private static ModelSpec experts() {
        return ModelFamilies.named("mixtral").read(new Section(Map.of("layers", 1, "hidden", 16, "heads", 4, "inner",
                12, "sequence-length", 20, "vocabulary-size", 96, "tie-embeddings", false, "experts", 4)));
    }

    private static ShardingCheck.Result lowered(ModelSpec model, String text, int size) {
        return ShardingCheck.of(model, ShardingPlan.read(text, model), new ShardingCheck.Mesh(size, 1, 1), 40);
    }

    private static void assertTrains(ModelSpec model, StreamSharding sharding, int size, Recompute recompute,
            double dropout) {
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), MICROBATCH_SIZE, DataType.FLOAT64, recompute,
                    new DropoutSettings(dropout, 3));
            Partition partition = Partition.uniform(model, 2);
            try (NaivePipeline alone = new NaivePipeline(golden, partition, MICROBATCH_SIZE, setup.source(), recompute,
                    setup.dropout(), DataType.FLOAT64, (stage, engine) -> TensorShare.ALL);
                    TensorPipelines shared = new TensorPipelines(setup, partition, size, sharding, 1, Zero.NONE,
                            true)) {
                Training.assertSame(alone, shared, Order.ONE_FORWARD_ONE_BACKWARD, TOLERANCE);
            }
        }
    }

    /** A group sends the elements of the plan, and without moves none but sums of squares. */
    @ParameterizedTest(name = "{0} on {1} ranks")
    @CsvSource({"'vocabulary, heads, inner -> tensor', 2", "'vocabulary, heads, inner, rows -> tensor', 2",
            "'vocabulary, heads, inner, rows -> tensor', 4", "'heads -> tensor', 4", "'inner, rows -> tensor', 2",
            "'vocabulary -> tensor', 2", "'batch -> data', 2"})
    void shouldSendTheElementsOfThePlan(String rules, int size) {
        ModelSpec model = gpt2(16);
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            long rows = (long) MICROBATCH_SIZE * golden.sequenceLength;
            ShardingCheck.Result plan = ShardingCheck.of(model, ShardingPlan.read(rules, model),
                    new ShardingCheck.Mesh(size, 1, 1), rows);
            try (TensorPipelines shared = new TensorPipelines(
                    Setup.of(golden, new InitialWeights(model, 7), MICROBATCH_SIZE), Partition.uniform(model, 1), size,
                    plan.sharding(), 1, Zero.NONE, true)) {
                shared.gradients(0, Order.ONE_FORWARD_ONE_BACKWARD);
                List<Call> calls = new ArrayList<>(shared.groups.getFirst().calls());
                calls.removeLast(); // the sums of squares
                if (plan.sharding().cutsRows()) {
                    calls.removeLast(); // the gradients of norms
                }
                assertEquals(plan.elements() * (golden.batchSize / MICROBATCH_SIZE),
                        calls.stream().mapToDouble(call -> call.sentByEach(size)).sum());
            }
        }
    }

    /** The plan of a run without one, written and read again, is lowered to the same. */
    @ParameterizedTest
    @MethodSource("models")
    void shouldLowerTheStandardPlanToWhatARunWithoutOneExecutes(ModelSpec model) {
        for (boolean cutsRows : new boolean[]{false, true}) {
            String text = standard(model, cutsRows);
            assertEquals(text, ShardingText.of(ShardingPlan.read(text, model), _ -> Optional.empty()));
            for (int size : new int[]{1, 2, 4}) {
                assertEquals(StreamSharding.of(cutsRows), ShardingCheck.of(model, ShardingPlan.read(text, model),
                        new ShardingCheck.Mesh(size == 4 ? 2 : size, 2, 1), 40).sharding());
            }
        }
    }

    private static Stream<ModelSpec> models() {
        return Stream.of(gpt2(16), rotary("llama", true), rotary("qwen3", false), experts());
    }

    private static String standard(ModelSpec model, boolean cutsRows) {
        return ShardingText.of(ShardingRules.standard(cutsRows).plan(model), _ -> Optional.empty());
    }

    /** The bias of a router's choice has no gradient, and every rank reads all of it. */
    @Test
    void shouldRefuseACutOfTheBiasOfAChoice() {
        ModelSpec model = ModelFamilies.named("glm4_moe").read(new Section(Map.ofEntries(Map.entry("layers", 2),
                Map.entry("hidden", 16), Map.entry("heads", 4), Map.entry("inner", 12), Map.entry("expert-inner", 12),
                Map.entry("sequence-length", 20), Map.entry("vocabulary-size", 96),
                Map.entry("tie-embeddings", false), Map.entry("experts", 4), Map.entry("first-dense-blocks", 1))));
        String text = standard(model, false);
        String line = text.lines().filter(one -> one.contains("correction_bias")).findFirst().orElseThrow();
        assertEquals(StreamSharding.of(false), lowered(model, text, 2).sharding());
        String cut = text.replace(line, line.replace("invariant", "cut experts"));
        assertTrue(assertThrows(ShardingException.class, () -> lowered(model, cut, 2)).getMessage()
                .contains("but the parameter is cut experts"));
    }

    /** A dictionary of PyTorch from a published explanation, with sequence parallelism. */
    @Test
    void shouldReadTheDictionaryOfPyTorch() throws IOException {
        ModelSpec model = rotary("llama", false);
        assertEquals(StreamSharding.of(true), lowered(model, dictionary(), 2).sharding());
    }

    private static String dictionary() throws IOException {
        try (var file = ShardingPlansTest.class.getResourceAsStream("/sharding/layer-tp-plan.py")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /**
     * Every plan with one edit is refused with its line, or trains to the gradients of one rank. What layers execute is
     * trained once for each model and division. A plan that is executed as the standard one differs in the order of lines.
     */
    @ParameterizedTest
    @MethodSource("models")
    void shouldRefuseOrTrainEveryPlanWithOneEdit(ModelSpec model) {
        for (boolean cutsRows : new boolean[]{false, true}) {
            Set<StreamSharding> accepted = new HashSet<>();
            int refused = 0;
            String standard = standard(model, cutsRows);
            Map<String, Integer> mutants = mutants(standard);
            for (Map.Entry<String, Integer> mutant : mutants.entrySet()) {
                try {
                    StreamSharding sharding = ShardingCheck.of(model, ShardingPlan.read(mutant.getKey(), model),
                            new ShardingCheck.Mesh(2, 2, 1), 40).sharding();
                    accepted.add(sharding);
                    if (sharding.equals(StreamSharding.of(cutsRows))) {
                        assertEquals(sorted(standard), sorted(mutant.getKey()));
                    }
                } catch (ShardingException refusal) {
                    refused++;
                    assertTrue(refusal.line() > 0 || refusal.getMessage().startsWith("with parallel.data = 2"),
                            refusal.getMessage() + "\n" + mutant.getKey());
                }
            }
            assertTrue(refused > mutants.size() / 2, refused + " of " + mutants.size());
            accepted.remove(StreamSharding.of(cutsRows)); // trained by others
            accepted.forEach(sharding -> assertTrains(model, sharding, 2, Recompute.NONE, 0));
        }
    }

    private static List<String> sorted(String text) {
        return text.lines().map(line -> line.strip().replaceAll("\\s+", " ")).sorted().toList();
    }

    /** Returns every text with one line dropped, written twice, exchanged with the next, of another type, or misspelt. */
    private static Map<String, Integer> mutants(String text) {
        List<String> lines = text.lines().toList();
        Map<String, Integer> mutants = new LinkedHashMap<>();
        for (int index = 0; index < lines.size(); index++) {
            String line = lines.get(index);
            if (line.isBlank()) {
                continue;
            }
            add(mutants, lines, index, List.of());
            add(mutants, lines, index, List.of(line, line));
            String stripped = line.strip();
            if (stripped.startsWith("move")) {
                String[] types = stripped.substring("move".length()).split("->");
                for (String type : TYPES) {
                    add(mutants, lines, index, List.of("move " + type + " -> " + types[1]));
                    add(mutants, lines, index, List.of("move " + types[0] + " -> " + type));
                }
                add(mutants, lines, index, List.of("move " + types[1] + " -> " + types[0]));
            } else if (stripped.startsWith("layer ")) {
                add(mutants, lines, index, List.of(line + "s"));
            } else {
                String name = stripped.split("\\s+")[0];
                String types = stripped.substring(name.length()).strip();
                for (String type : TYPES) {
                    add(mutants, lines, index, List.of(name + " " + type));
                }
                add(mutants, lines, index, List.of(name + " " + types + ", sum"));
                add(mutants, lines, index, List.of(name + " " + types + ", first"));
                add(mutants, lines, index, List.of(name + " " + types.replace(", sum", "").replace(", first", "")));
                add(mutants, lines, index, List.of(name.substring(0, name.length() - 1) + " " + types));
            }
            if (index + 1 < lines.size()) {
                List<String> exchanged = new ArrayList<>(lines);
                exchanged.set(index, lines.get(index + 1));
                exchanged.set(index + 1, line);
                mutants.put(String.join("\n", exchanged), index);
            }
        }
        mutants.remove(String.join("\n", lines));
        return mutants;
    }

    private static void add(Map<String, Integer> mutants, List<String> lines, int index, List<String> instead) {
        List<String> mutant = new ArrayList<>(lines.subList(0, index));
        mutant.addAll(instead);
        mutant.addAll(lines.subList(index + 1, lines.size()));
        mutants.put(String.join("\n", mutant), index);
    }
}
