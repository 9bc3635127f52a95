package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe train} with the z-loss, a bias that follows the loads, and a capacity, on several grids. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class RouterOptionsTest {
    private static final String BIAS = "model.layers.1.mlp.gate.e_score_correction_bias";
    private static final List<String> MEASURES = List.of("router_z_loss", "expert_entropy", "expert_highest_load",
            "expert_idle", "expert_dropped");

    @TempDir
    private Path directory;

    private Path train(String name, Golden golden, String... more) {
        List<String> settings = golden.settings("engine.kind=reference", "training.precision=float64",
                "training.microbatch-size=2", "model.router-z-loss=0.01", "training.steps=5");
        settings.addAll(List.of(more));
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    /** Biases move by whole rates, so they are the same to the bit if every choice counts once. */
    @Test
    void shouldMoveTheSameBiasesOnEveryGrid() {
        Golden golden = Golden.named("glm4moe");
        String rate = "model.bias-update-rate=0.015625";
        Path one = train("one", golden, rate);
        double[] first = RunFiles.tensors(golden.model().resolve("model.safetensors")).get(BIAS);
        Map<String, double[]> expected = RunFiles.tensors(RunFiles.exported(one));
        for (int expert = 0; expert < first.length; expert++) {
            double rates = (expected.get(BIAS)[expert] - first[expert]) / 0.015625;
            assertEquals(Math.rint(rates), rates, 1e-5);
        }
        assertTrue(!Arrays.equals(first, expected.get(BIAS)));
        for (Path other : List.of(
                train("stages", golden, rate, "parallel.pipeline=2", "parallel.schedule=zb-h1",
                        "training.recompute=full"),
                train("data", golden, rate, "parallel.data=2", "training.zero=3"),
                train("tensor", golden, rate, "parallel.tensor=2", "parallel.sequence=true"))) {
            Map<String, double[]> found = RunFiles.tensors(RunFiles.exported(other));
            assertArrayEquals(expected.get(BIAS), found.get(BIAS), "" + other);
            expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), 1e-7, name));
            requireSameMeasures(one, other);
        }
    }

    private static void requireSameMeasures(Path one, Path other) {
        for (String measure : MEASURES) {
            double[] expected = RunFiles.metrics(one, measure);
            assertEquals(5, expected.length);
            assertArrayEquals(expected, RunFiles.metrics(other, measure), 1e-9, measure + " of " + other);
        }
    }

    /** Random numbers go by place: the same second experts are dropped whatever the grid. */
    @Test
    void shouldDropTheSameChoicesOnEveryGrid() {
        Golden golden = Golden.named("mixtral");
        String[] options = {"model.capacity-factor=0.75", "model.random-second-expert=true",
                "model.auxiliary-loss=0.01"};
        Path one = train("one", golden, options);
        assertTrue(Arrays.stream(RunFiles.metrics(one, "expert_dropped")).allMatch(share -> share > 0.1));
        for (String[] grid : new String[][]{{"parallel.pipeline=2", "training.recompute=full"}, {"parallel.data=2"},
                {"parallel.tensor=2"}}) {
            String[] all = Arrays.copyOf(options, options.length + grid.length);
            System.arraycopy(grid, 0, all, options.length, grid.length);
            requireSameMeasures(one, train(grid[0], golden, all));
        }
    }

    @Test
    void shouldRefuseACapacityOfExpertsOnOtherRanks() {
        Execution.train(directory.resolve("run"),
                Golden.named("mixtral").settings("model.capacity-factor=1", "parallel.data=2", "parallel.expert=2",
                        "training.microbatch-size=2"))
                .requireRefused("model.capacity-factor or model.random-second-expert drops some");
    }

    @Test
    void shouldRefuseOptionsThatARouterDoesNotHave() {
        Execution.train(directory.resolve("run"),
                Golden.named("mixtral").settings("model.bias-update-rate=0.001"))
                .requireRefused("needs a router with such a bias, as of glm4_moe");
        Execution.train(directory.resolve("other"),
                Golden.named("glm4moe").settings("model.auxiliary-loss=0.001"))
                .requireRefused("needs scores that add up to 1");
        Execution.train(directory.resolve("third"),
                Golden.named("qwen3moe").settings("model.random-second-expert=true"))
                .requireRefused("a token has 2 experts (model.experts-per-token), but found 3");
    }
}
