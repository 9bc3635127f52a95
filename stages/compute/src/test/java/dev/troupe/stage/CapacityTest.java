package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.Routing;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.engine.router.RowDraws;
import dev.troupe.engine.router.SoftmaxRouter;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.partition.Partition;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Choices in buffers of a capacity against algorithm 1 of GShard (Lepikhin et al. 2020), and training with drops. */
@Tag("parity")
class CapacityTest {
    private static final Map<String, Object> TIGHT = Map.of("experts", 5, "experts-per-token", 2, "auxiliary-loss", 0.5,
            "capacity-factor", 0.6, "random-second-expert", true);

    /** The choices of a group: expert and position of each token's first and second, by the token. */
    private record Dispatch(int[] chosen, int[] positions, double[] weights, int dropped) {
        static Dispatch of(double[] gates, int experts, int capacity, double[] uniform) {
            int tokens = gates.length / experts;
            int[] chosen = new int[2 * tokens];
            double[] weights = new double[2 * tokens];
            int[] positions = new int[2 * tokens];
            Routing.forward(new SoftmaxRouter(true), Arrays.stream(gates).map(Math::log).toArray(), null,
                    new double[gates.length], chosen, weights, experts, 2);
            int dropped = Routing.place(uniform, capacity, chosen, weights, positions, 2);
            return new Dispatch(chosen, positions, weights, dropped);
        }

        /** GShard's auxiliary loss: the first choices of each expert, without drops. */
        double auxiliaryLoss(double[] gates, int experts) {
            int tokens = gates.length / experts;
            double sum = 0;
            for (int expert = 0; expert < experts; expert++) {
                double mean = 0;
                double first = 0;
                for (int token = 0; token < tokens; token++) {
                    mean += gates[token * experts + expert] / tokens;
                    first += chosen[2 * token] == expert ? 1 : 0;
                }
                sum += first / tokens * mean;
            }
            return sum / experts;
        }
    }

    static Stream<Path> goldens() throws IOException, URISyntaxException {
        return Files.list(Path.of(CapacityTest.class.getResource("/goldens/gshard").toURI()))
                .filter(file -> file.toString().endsWith(".json")).sorted();
    }

    @ParameterizedTest
    @MethodSource("goldens")
    void shouldDispatchAsEveryGolden(Path file) throws IOException {
        JsonNode golden = new ObjectMapper().readTree(file.toFile());
        int experts = golden.get("experts").asInt();
        int tokens = golden.get("tokens").asInt();
        int capacity = golden.get("capacity").asInt();
        assertEquals(Math.min(capacity, 2 * tokens), new ExpertTraining(0, 0, 0,
                golden.get("capacity_factor").asDouble(), false).capacity(2 * tokens, experts), "the capacity");
        for (int group = 0; group < golden.get("groups").asInt(); group++) {
            double[] gates = numbers(golden.get("gates").get(group));
            JsonNode uniform = golden.get("uniform");
            Dispatch found = Dispatch.of(gates, experts, capacity,
                    uniform.isNull() ? null : numbers(uniform.get(group)));
            JsonNode expected = golden.get("results").get(group);
            int dropped = 0;
            for (int token = 0; token < tokens; token++) {
                for (int order = 0; order < 2; order++) {
                    JsonNode choice = expected.get(order == 0 ? "first" : "second").get(token);
                    int index = 2 * token + order;
                    String what = file.getFileName() + " token " + token + " choice " + order;
                    assertEquals(choice.get("expert").asInt(), found.chosen[index], what);
                    assertEquals(choice.get("position").asInt(), found.positions[index], what);
                    if (found.positions[index] >= 0) {
                        assertEquals(choice.get("weight").asDouble(), found.weights[index], 1e-12, what);
                    }
                    dropped += found.positions[index] < 0 ? 1 : 0;
                }
            }
            assertEquals(dropped, found.dropped);
            assertEquals(expected.get("l_aux").asDouble(), found.auxiliaryLoss(gates, experts), 1e-12);
        }
    }

    private static double[] numbers(JsonNode array) {
        List<Double> numbers = new ArrayList<>();
        for (JsonNode one : array) {
            if (one.isArray()) {
                Arrays.stream(numbers(one)).forEach(numbers::add);
            } else {
                numbers.add(one.asDouble());
            }
        }
        return numbers.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The listing of the paper, token by token, with a number below which a second expert is not asked. */
    private static int[] algorithmOne(double[] gates, int experts, int capacity, double[] uniform) {
        int tokens = gates.length / experts;
        int[] positions = new int[2 * tokens];
        int[] counts = new int[experts];
        int[][] best = new int[tokens][2];
        for (int token = 0; token < tokens; token++) {
            int from = token * experts;
            best[token] = IntStream.range(0, experts).boxed()
                    .sorted((left, right) -> gates[from + left] == gates[from + right]
                            ? left - right
                            : Double.compare(gates[from + right], gates[from + left]))
                    .limit(2).mapToInt(Integer::intValue).toArray();
            int position = counts[best[token][0]]++;
            positions[2 * token] = position < capacity ? position : -1;
        }
        for (int token = 0; token < tokens; token++) {
            double first = gates[token * experts + best[token][0]];
            double second = gates[token * experts + best[token][1]];
            int expert = best[token][1];
            positions[2 * token + 1] = -1;
            if (counts[expert] < capacity && 2 * second / (first + second) > uniform[token]) {
                positions[2 * token + 1] = counts[expert]++;
            }
        }
        return positions;
    }

    @Test
    void shouldDispatchAsAlgorithmOneOnRandomGates() {
        Random random = new Random(11);
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            for (int draw = 0; draw < 10_000; draw++) {
                int experts = 2 + random.nextInt(8);
                int tokens = 1 + random.nextInt(24);
                int capacity = 1 + random.nextInt(2 * tokens);
                double[] logits = random.doubles((long) tokens * experts, -3, 3).toArray();
                RowDraws draws = new RowDraws(draw, 3, 2, 1, tokens, tokens);
                double[] uniform = draws.ofRows(tokens);
                double[] gates = new double[logits.length];
                int[] chosen = new int[2 * tokens];
                double[] weights = new double[2 * tokens];
                Routing.forward(new SoftmaxRouter(false), logits, null, gates, chosen, weights, experts, 2);
                try (Tensor in = floats(engine, logits, tokens, experts);
                        Tensor scores = engine.allocate(DataType.FLOAT64, Shape.of(tokens, experts));
                        Tensor factors = engine.allocate(DataType.FLOAT64, Shape.of(tokens, 2));
                        Tensor choice = engine.allocate(DataType.INT32, Shape.of(tokens, 2));
                        Tensor positions = engine.allocate(DataType.INT32, Shape.of(tokens, 2));
                        Tensor loads = floats(engine, new double[1], 1);
                        Tensor segments = engine.allocate(DataType.INT32, Shape.of(experts + 1));
                        Tensor rows = engine.allocate(DataType.INT32, Shape.of(2 * tokens));
                        Tensor places = engine.allocate(DataType.INT32, Shape.of(tokens, 2))) {
                    engine.route(new SoftmaxRouter(true), in, null, scores, choice, factors);
                    engine.placeChoices(draws, capacity, choice, factors, positions, loads, 0);
                    engine.routingTables(choice, positions, segments, rows, places);
                    int[] expected = algorithmOne(gates, experts, capacity, uniform);
                    assertArrayEquals(expected, ids(engine, positions), "draw " + draw);
                    requireDense(expected, ids(engine, choice), ids(engine, segments), ids(engine, rows),
                            ids(engine, places));
                }
            }
        }
    }

    /** A choice is at its expert's first row plus its position, and rows without a choice are row 0. */
    private static void requireDense(int[] positions, int[] chosen, int[] segments, int[] rows, int[] places) {
        int kept = (int) Arrays.stream(positions).filter(position -> position >= 0).count();
        assertEquals(kept, segments[segments.length - 1]);
        for (int choice = 0; choice < chosen.length; choice++) {
            assertEquals(positions[choice] < 0 ? -1 : segments[chosen[choice]] + positions[choice], places[choice]);
            if (places[choice] >= 0) {
                assertTrue(places[choice] < segments[chosen[choice] + 1]);
                assertEquals(choice / 2, rows[places[choice]]);
            }
        }
        assertEquals(kept, Arrays.stream(places).filter(place -> place >= 0).distinct().count());
        assertTrue(Arrays.stream(rows).skip(kept).allMatch(row -> row == 0));
    }

    private static Tensor floats(Engine engine, double[] numbers, int... sizes) {
        Tensor tensor = engine.allocate(DataType.FLOAT64, Shape.of(sizes));
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    private static int[] ids(Engine engine, Tensor tensor) {
        int[] ids = new int[(int) tensor.shape().elementCount()];
        engine.copyToHost(tensor, 0, MemorySegment.ofArray(ids));
        return ids;
    }

    @Test
    void shouldHaveTheGradientOfFiniteDifferencesWithDrops() {
        ModelSpec model = ExpertTrials.model("mixtral", TIGHT);
        ExpertTrials.requireFiniteDifferences(model, ExpertTrials.ROUTER,
                List.of(ExpertTrials.ROUTER, ExpertTrials.EXPERT + "0.w1.weight", ExpertTrials.EXPERT + "3.w2.weight",
                        "model.layers.0.self_attn.o_proj.weight", "model.embed_tokens.weight"));
    }

    /** Draws go by place, so the same choices are dropped under every split, and a replay drops none anew. */
    @ParameterizedTest
    @EnumSource(Recompute.class)
    void shouldDropTheSameChoicesUnderEverySplit(Recompute recompute) {
        ModelSpec model = ExpertTrials.model("mixtral", TIGHT);
        List<Object> expected = null;
        for (int stageCount : new int[]{1, 2, 4}) {
            ExpertTrials.NotANumber filled = new ExpertTrials.NotANumber();
            try (StageGolden golden = ExpertTrials.golden();
                    NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, stageCount), 2,
                            source(model), recompute, new DropoutSettings(0, 9), DataType.FLOAT64, filled)) {
                filled.isOn = true;
                List<Object> found = new ArrayList<>();
                for (int step = 0; step < 2; step++) {
                    found.add(pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD));
                    double before = pipeline.validationLoss(step);
                    assertTrue(Double.isFinite(before), "a validation drops nothing, and reads no memory of others");
                    pipeline.gradients(step, Order.ONE_FORWARD_ONE_BACKWARD);
                    for (int microbatch = 0; microbatch < 4; microbatch++) {
                        found.add(ExpertTrials.measure(pipeline, microbatch));
                        assertTrue(ExpertTrials.measure(pipeline, microbatch).dropped() > 0.2);
                    }
                    pipeline.stages.forEach(Stage::skipStep);
                }
                expected = expected == null ? found : expected;
                assertEquals(expected, found, stageCount + " stages");
            }
        }
    }

    private static WeightSource source(ModelSpec model) {
        return new InitialWeights(model, 5);
    }

    /** With room for every choice nothing is dropped, and the order of rows alone is another. */
    @Test
    void shouldDropNothingIfThereIsRoom() {
        ModelSpec roomy = ExpertTrials.model("mixtral", Map.of("experts", 4, "capacity-factor", 4.0));
        ModelSpec without = ExpertTrials.model("mixtral", Map.of("experts", 4));
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline limited = ExpertTrials.pipeline(golden, roomy, 1, 2, source(roomy));
                NaivePipeline free = ExpertTrials.pipeline(golden, without, 1, 2, source(without))) {
            assertEquals(free.gradients(0, Order.WHOLE_BACKWARDS).loss(),
                    limited.gradients(0, Order.WHOLE_BACKWARDS).loss(), 1e-13);
            assertEquals(0, ExpertTrials.measure(limited, 0).dropped());
        }
    }
}
