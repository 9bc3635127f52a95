package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs that train low-rank adapters: on other grids, after failures, and with wrong requests. */
@Tag("real")
@Dealt(4)
@Timeout(120)
class LoraTest {
    private static final Golden GOLDEN = Golden.named("llama-lora");
    private static final String ADAPTER = "model.adapter=" + GOLDEN.adapter().orElseThrow();

    @TempDir
    private Path directory;

    private static List<String> settings(String... more) {
        List<String> settings = GOLDEN.settings("training.microbatch-size=1", "engine.kind=reference",
                "training.precision=float64");
        settings.addAll(List.of(more));
        return settings;
    }

    /** Without the golden's adapter: new ones are drawn from the seed. */
    private static List<String> fresh(String... more) {
        List<String> settings = settings(more);
        settings.remove(ADAPTER);
        return settings;
    }

    private Path train(String name, List<String> settings) {
        Execution.train(directory.resolve(name), settings).requireDone();
        return directory.resolve(name);
    }

    @Test
    void shouldResumeAdaptersOnAnotherGrid() {
        Path cut = train("cut", settings("training.steps=2", "parallel.pipeline=3"));
        List<String> arguments = new ArrayList<>(List.of("train", "--resume", cut.toString()));
        List.of("training.steps=4", "parallel.pipeline=1", "parallel.tensor=2", "parallel.data=2", "training.zero=3")
                .forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution.of(arguments).requireDone();
        double[] losses = RunFiles.metrics(cut, "loss");
        for (int step = 0; step < 4; step++) {
            assertEquals(GOLDEN.losses()[step], losses[step], 1e-9 * losses[step], "step " + step);
        }
    }

    @Test
    void shouldEndWithTheSameBitsAfterAStageFailed() {
        List<String> arguments = new ArrayList<>(
                List.of("chaos", "--out", directory.resolve("chaos").toString(), "--fault",
                        "exception stage=1 step=2 microbatch=1 at=B", "--fault",
                        "exception stage=0 step=1 microbatch=0 at=F"));
        settings("parallel.pipeline=2").forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution.of(arguments).requireDone();
    }

    /** The share of the frozen weights comes from the files again, in the middle of a step. */
    @Tag("long")
    @Test
    void shouldEndWithTheSameBitsAfterARankWithAShareOfFrozenWeightsFailed() {
        List<String> arguments = new ArrayList<>(
                List.of("chaos", "--out", directory.resolve("chaos").toString(), "--fault",
                        "exception stage=1 step=2 microbatch=1 at=B", "--fault",
                        "exception stage=0 step=1 microbatch=0 at=F"));
        settings("parallel.pipeline=2", "parallel.data=2", "training.zero=3")
                .forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution.of(arguments).requireDone();
    }

    @Test
    void shouldBeginWithTheModelAsItIs() {
        double first = RunFiles.metrics(train("whole", whole()), "loss")[0];
        Path fresh = train("fresh", fresh("training.lora.rank=2", "training.lora.targets=[all-linear]"));
        assertEquals(first, RunFiles.metrics(fresh, "loss")[0], 1e-12);
        assertNotEquals(first, RunFiles.metrics(fresh, "loss")[3], 1e-6);
    }

    private static List<String> whole() {
        return fresh("training.steps=1");
    }

    /** Dropout depends on the microbatch and on the place in the whole input. */
    @Test
    void shouldDropTheSameInputsOnEveryGrid() {
        List<String> dropping = List.of("training.lora.dropout=0.3", "training.steps=3");
        List<String> one = settings();
        one.addAll(dropping);
        List<String> four = settings("parallel.pipeline=2", "parallel.tensor=2");
        four.addAll(dropping);
        double[] losses = RunFiles.metrics(train("one", one), "loss");
        assertArrayEquals(losses, RunFiles.metrics(train("four", four), "loss"), 1e-9);
        assertNotEquals(GOLDEN.losses()[1], losses[1], 1e-6);
    }

    @Test
    void shouldTrainAdaptersInBfloat16() {
        List<String> settings = settings("parallel.pipeline=2", "engine.kind=cpu", "training.precision=bfloat16");
        assertArrayEquals(GOLDEN.losses(), RunFiles.metrics(train("rounded", settings), "loss"), 2e-2);
    }

    @Test
    void shouldRefuseAdaptersThatCannotBe() throws IOException {
        Path out = directory.resolve("refused");
        Execution.train(out, fresh("training.lora.rank=2", "training.lora.targets=[q_proj, wq]"))
                .requireRefused("wq is no matrix", "q_proj", "all-linear");
        Execution.train(out, fresh("training.lora.dropout=0.1"))
                .requireRefused("training.lora.dropout", "training.lora.rank");
        Execution.train(out, settings("training.lora.rank=8", "training.lora.targets=[k_proj]"))
                .requireRefused("training.lora.rank = 8, but the adapter has 4",
                        "training.lora.targets = [k_proj], but the adapter has [q_proj, v_proj]");
        Execution.train(out, List.of("model.family=llama", ADAPTER))
                .requireRefused("is no adapter for this model", "must have shape", "more");
        Path broken = Files.createDirectories(directory.resolve("broken"));
        Files.copy(GOLDEN.adapter().orElseThrow().resolve("adapter_model.safetensors"),
                broken.resolve("adapter_model.safetensors"));
        Files.writeString(broken.resolve("adapter_config.json"), """
                {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"], "use_dora": true}
                """);
        Execution.train(out, settings("model.adapter=" + broken))
                .requireRefused("adapter_config.json", "use_dora", "true");
        // PEFT applies such an adapter from these tokens on, and Troupe would to every token.
        Files.writeString(broken.resolve("adapter_config.json"), """
                {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"],
                 "alora_invocation_tokens": [5, 6]}
                """);
        Execution.train(out, settings("model.adapter=" + broken))
                .requireRefused("adapter_config.json", "alora_invocation_tokens", "[5,6]");
        Path more = Files.createDirectories(directory.resolve("more"));
        Files.copy(GOLDEN.adapter().orElseThrow().resolve("adapter_model.safetensors"),
                more.resolve("adapter_model.safetensors"));
        Files.writeString(more.resolve("adapter_config.json"), """
                {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}
                """);
        Execution.train(out, settings("model.adapter=" + more))
                .requireRefused("v_proj.lora_A.weight is no adapter of a matrix that adapter_config.json names");
        Path whole = train("whole", whole());
        List<String> arguments = List.of("train", "--resume", whole.toString(), "-s", "training.lora.rank=2", "-s",
                "training.steps=2");
        Execution.of(arguments).requireRefused("has a whole model", "training.lora");
        assertTrue(Files.notExists(out));
    }

    /** Weights of the same shape as in the adapters' training, but others. */
    @Test
    void shouldRefuseToResumeWithOtherFrozenWeights() {
        Path cut = train("cut", settings("training.steps=1"));
        Execution.resume(cut, "-s", "training.steps=2", "-s",
                "model.from=" + Golden.named("llama-packed-masked").model())
                .requireRefused("other weights of the same shape", "identity");
        Path drawn = train("drawn", List.of("model.family=llama", "model.layers=1", "model.hidden=8", "model.heads=2",
                "parallel.pipeline=1", "training.steps=1", "training.lora.rank=2"));
        Execution.resume(drawn, "-s", "training.steps=2", "-s", "training.seed=9")
                .requireRefused("drawn from seed 1", "drawn from seed 9");
    }
}
