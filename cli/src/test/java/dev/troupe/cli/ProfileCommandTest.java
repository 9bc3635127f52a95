package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.profile.Profile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A model is profiled, and its stages are cut by the profile. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class ProfileCommandTest {
    @TempDir
    private Path directory;

    private static List<String> settings(String... more) {
        return Golden.named(Golden.TIED).settings(more);
    }

    private Execution profile(Path file, String... more) {
        List<String> arguments = new ArrayList<>(List.of("profile", "--out", file.toString()));
        settings(more).forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return Execution.of(arguments);
    }

    @Test
    void shouldCutTheStagesOfARunByItsProfile() {
        Path file = directory.resolve("profile.json");
        Execution measured = profile(file, "engine.kind=reference", "parallel.pipeline=2").requireDone();
        assertTrue(measured.output().contains("Written to " + file), measured.output());
        assertTrue(measured.output().contains("1f1b on 2 ranks, 4 microbatches: stages of ["), measured.output());
        Profile profile = Profile.read(file);
        assertEquals(4, profile.forms().size());
        assertTrue(measured.output().contains("in a run: actions take "), measured.output());
        assertTrue(profile.overheads().actionFactor() > 0 && profile.overheads().hop() > 0, profile::toString);
        profile.forms().forEach((name, form) -> assertTrue(form.keptBytes() > 0, name));

        List<String> run = settings("engine.kind=reference", "parallel.pipeline=2", "training.steps=3");
        List<String> uniform = new ArrayList<>(run);
        uniform.add("parallel.layout=uniform");
        Execution.train(directory.resolve("uniform"), uniform).requireDone();
        List<String> cut = new ArrayList<>(run);
        cut.add("parallel.layout=measured(" + file + ")");
        Execution.train(directory.resolve("measured"), cut).requireDone();
        assertEquals(RunFiles.results(directory.resolve("uniform")), RunFiles.results(directory.resolve("measured")));

        String layout = layout(directory.resolve("measured"));
        assertFalse(layout.contains("measured"), layout);
        List<String> byHand = new ArrayList<>(run);
        byHand.add("parallel.layout=" + layout);
        Execution.train(directory.resolve("by-hand"), byHand).requireDone();
        assertEquals(layout, layout(directory.resolve("by-hand")));
        Execution.command("schedule", "1f1b", "--pipeline", "2", "--microbatches", "4", "--profile", file.toString())
                .requireDone();

        cut.add("training.microbatch-size=1");
        Path refused = directory.resolve("refused");
        Execution.train(refused, cut).requireRefused("the profile " + file + " is of training.microbatch-size = ");
        assertFalse(Files.exists(refused));
    }

    private static String layout(Path run) {
        return RunSpecReader.read(Optional.of(run.resolve("config.conf")), List.of()).parallel().layout();
    }

    /** The head costs more than all else, so it has a stage of its own. */
    @Test
    void shouldCutTheStagesByGivenCosts() {
        Path run = directory.resolve("run");
        Execution.train(run, settings("engine.kind=reference", "parallel.pipeline=2", "training.steps=1",
                "parallel.layout=costs(E=0, a=1, m=1, L=100)")).requireDone();
        assertTrue(layout(run).endsWith("|L"), layout(run));
        Execution.train(directory.resolve("refused"), settings("engine.kind=reference", "parallel.pipeline=2",
                "parallel.layout=costs(1, 2)")).requireRefused("expected a cost of 0 or more for each of the ");
    }

    @Test
    void shouldProfileTheOperationsOfAnEmulatedDevice() {
        Path file = directory.resolve("profile.json");
        profile(file, "engine.kind=emulated", "engine.emulated.device-flops=1e9", "parallel.pipeline=2").requireDone();
        assertEquals("gpt2", Profile.read(file).setting().model().substring(0, 4));
    }
}
