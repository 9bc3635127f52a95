package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Dealt(2)
@Timeout(300)
class ReplayTest {
    @TempDir
    private Path directory;

    private Path run;

    @BeforeEach
    void train() {
        run = directory.resolve("run");
        Execution.train(run, Golden.named(Golden.TIED).settings("engine.kind=reference", "parallel.pipeline=2",
                "training.microbatch-size=2", "training.steps=4", "training.checkpoint-every=2")).requireDone();
    }

    private Execution replay(long step) {
        return Execution.command("replay", run.toString(), "--step", Long.toString(step));
    }

    private void assertSame(long step, int steps) {
        Execution replayed = replay(step);
        assertEquals(ExitCode.DONE, replayed.exitCode(), replayed.output() + replayed.errors());
        assertTrue(replayed.output().contains("Compared: " + steps + " steps"), replayed.output());
    }

    @Test
    void shouldComputeTheSameBitsFromTheCheckpointBeforeAStep() throws IOException {
        assertSame(3, 2);
        assertSame(1, 2); // from the first weights
        assertEquals(ExitCode.WRONG_REQUEST, replay(4).exitCode(), "a step that was not done");
    }

    @Test
    void shouldNameTheFirstOutputThatIsNotAsItWas() throws IOException {
        Path config = run.resolve("config.conf");
        String changed = Files.readString(config).replaceAll("weight-decay ?= ?\\S+", "weight-decay = 0.5");
        Files.writeString(config, changed);
        Execution replayed = replay(2);
        assertEquals(ExitCode.RUN_FAILED, replayed.exitCode(), replayed.output() + replayed.errors());
        assertTrue(replayed.output().startsWith("The runs part in step 2: UPDATE of "), replayed.output());
    }

    @Test
    void shouldRefuseAStepWithoutACheckpointBeforeIt() throws IOException {
        Path metrics = run.resolve("metrics.jsonl");
        Files.write(metrics, Files.readAllLines(metrics).stream().skip(1).toList());
        Execution refused = replay(1);
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
        assertTrue(refused.errors().contains("there is no checkpoint before it"), refused.errors());
    }
}
