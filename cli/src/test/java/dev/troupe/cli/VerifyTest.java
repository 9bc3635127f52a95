package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe verify}: layouts with the bits of one rank, and with bits of their own. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class VerifyTest {
    @TempDir
    private Path directory;

    private Execution verify(String name, List<String> settings, String... more) {
        List<String> arguments = new ArrayList<>(List.of("verify", "--out", directory.resolve(name).toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    private static List<String> settings(String... more) {
        return Golden.named("llama-gqa").settings(more);
    }

    @Test
    void shouldFindTheBitsOfOneRankInAPipeline() {
        Execution verified = verify("pipeline", settings("parallel.pipeline=3", "engine.kind=cpu",
                "training.microbatch-size=1", "parallel.layout=parameters"));
        assertTrue(verified.requireDone().output().contains("the same to the bit"), verified.output());
    }

    @Test
    void shouldHoldATensorGroupToATolerance() {
        List<String> settings = settings("parallel.tensor=2", "engine.kind=reference");
        Execution verified = verify("group", settings);
        assertTrue(verified.requireDone().output().contains("within 0.000100"), verified.output());
        Execution strict = verify("strict", settings, "--tolerance", "0");
        assertEquals(ExitCode.RUN_FAILED, strict.exitCode());
        assertTrue(strict.output().contains("NOT verified"), strict.output());
        verify("refused", settings, "--tolerance", "-1").requireRefused("--tolerance", "at least 0");
    }

    @Test
    void shouldHoldRoundedGradientsToATolerance() {
        Execution verified = verify("rounded", settings("parallel.data=2", "training.gradient-exchange=bfloat16",
                "training.microbatch-size=1", "engine.kind=reference"));
        assertTrue(verified.requireDone().output().contains("within 0.0200"), verified.output());
    }

    /** The reference has the same delay of one step. */
    @Test
    void shouldFindTheBitsOfOneRankUnderPipeDream2Bw() {
        List<String> settings = Golden.named("gpt2-2bw").settings("parallel.pipeline=2",
                "parallel.schedule=pipedream-2bw");
        Execution verified = verify("delayed", settings);
        assertTrue(verified.requireDone().output().contains("the same to the bit"), verified.output());
    }

    @Test
    void shouldRefuseGradientsThatAreOlderThanOnOneRank() {
        verify("stashing", Golden.named(Golden.UNTIED).settings("parallel.pipeline=2", "parallel.schedule=pipedream",
                "training.global-batch-size=1", "training.microbatch-size=1", "training.gradient-clip=0"))
                .requireRefused("parallel.schedule is pipedream", "2 ranks", "pipedream-2bw");
    }
}
