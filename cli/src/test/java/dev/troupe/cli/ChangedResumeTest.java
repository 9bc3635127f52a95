package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run that is resumed with another configuration drops state with a sentence, and is refused if state is missing. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class ChangedResumeTest {
    private static final String KIND = "training.optimizer.kind=";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            "adamw;sgd;the optimizer's exp_avg and exp_avg_sq, since the optimizer of the configuration has no use for them",
            "sgd training.optimizer.momentum=0.9;sgd training.optimizer.momentum=0;"
                    + "the optimizer's momentum_buffer, since the optimizer of the configuration has no use for it",
            "adamw training.loss-scale=dynamic;adamw training.loss-scale=none;"
                    + "the loss scale 65536.0 that it had come to, since training.loss-scale = none",
            "adamw training.precision=float64;adamw training.precision=float32;"
                    + "the digits of its weights beyond float32, since training.precision = float32",
            "adamw training.global-batch-size=2 training.microbatch-size=1 parallel.pipeline=2"
                    + " parallel.schedule=pipedream-2bw;adamw parallel.schedule=1f1b;"
                    + "the versions of the weights before the newest, since the steps of parallel.schedule = 1f1b do not overlap"})
    void shouldReportTheStateThatItDrops(String first, String then, String what) {
        Path run = train(first);
        String output = resume(run, then).requireDone().output();
        assertTrue(output.contains("Note: the run drops of " + run.resolve("checkpoints/step-000002") + " " + what
                + "."), output);
        assertEquals(output.indexOf("the run drops"), output.lastIndexOf("the run drops"), output);
        String again = resume(run, then).requireDone().output();
        assertFalse(again.contains("the run drops"), again); // the newest checkpoint is of the new configuration
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            "sgd;adamw;no state of an optimizer;continues from exp_avg and exp_avg_sq",
            "adamw;muon;the optimizer's exp_avg and exp_avg_sq;continues from momentum_buffer",
            "muon;adamw;the optimizer's momentum_buffer;continues from exp_avg and exp_avg_sq",
            "sgd;sgd training.optimizer.momentum=0.9;no state of an optimizer;continues from momentum_buffer"})
    void shouldRefuseWhenStateIsMissing(String first, String then, String has, String needs) {
        Path run = train(first);
        resume(run, then).requireRefused(run.resolve("checkpoints/step-000002") + " has " + has + " for ", needs,
                "put training.optimizer (kind, momentum, error-feedback) and training.replicas back");
    }

    private Path train(String settings) {
        Path run = directory.resolve("run");
        List<String> all = Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=2");
        all.addAll(List.of((KIND + settings).split(" ")));
        Execution.train(run, all).requireDone();
        return run;
    }

    private static Execution resume(Path run, String settings) {
        List<String> arguments = new ArrayList<>();
        for (String setting : (KIND + settings + " training.steps=4").split(" ")) {
            arguments.addAll(List.of("-s", setting));
        }
        return Execution.resume(run, arguments.toArray(String[]::new));
    }
}
