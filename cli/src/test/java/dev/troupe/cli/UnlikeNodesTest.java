package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes in JVMs of their own, of which one is unlike the other: it computes on another engine, is slower, or is lost. */
@Tag("real")
@Timeout(300)
class UnlikeNodesTest {
    private static final Pattern STEP_OF_STAGE_1 = Pattern
            .compile("\"step\":(\\d+),\"node\":\"b\",\"ranks\":\\[1],\"stages\":\\[1]");

    @TempDir
    private Path directory;
    private final LocalCluster cluster = LocalCluster.of(2);

    @AfterEach
    void leaveNothing() throws IOException {
        cluster.requireNothingLeft();
    }

    private Path write(String moreOfA, String moreOfB) throws IOException {
        return cluster.write(directory.resolve("cluster.conf"), "", cluster.node(0, moreOfA), cluster.node(1, moreOfB));
    }

    private Execution run(String command, Path config, String out, List<String> settings) {
        List<String> arguments = new ArrayList<>(
                List.of(command, config.toString(), "--out", directory.resolve(out).toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return Execution.of(arguments);
    }

    private List<String> small(String... more) {
        List<String> settings = new ArrayList<>(List.of("parallel.pipeline=2", "model.layers=4", "model.hidden=16",
                "model.heads=2", "model.sequence-length=16", "training.global-batch-size=8",
                "training.microbatch-size=1", "training.validate-every=0"));
        settings.addAll(List.of(more));
        return settings;
    }

    /** Sums go in another order on another engine. */
    @Tag("long")
    @Test
    void shouldTrainOnTwoEnginesToTheLossesOfOne() throws IOException {
        Path config = write("engine = cpu, threads = 1", "engine = reference");
        List<String> settings = small("training.steps=6");
        run("launch", config, "both", settings).requireDone();
        settings.add("engine.kind=reference");
        run("train", config, "one", settings).requireDone();
        double[] expected = RunFiles.metrics(directory.resolve("one"), "loss");
        assertEquals(6, expected.length);
        assertArrayEquals(expected, RunFiles.metrics(directory.resolve("both"), "loss"), 1e-4);
    }

    /** The reference engine keeps the probabilities of attention, and the other one a number for each row of them. */
    @Tag("long")
    @Test
    void shouldRefuseNodesThatReplayUnequalNumbersOfBlocksInTheSameMemory() throws IOException {
        Path config = write("engine = cpu, threads = 1", "engine = reference");
        Execution launched = run("launch", config, "unequal",
                small("model.sequence-length=64", "model.layers=8", "training.steps=1", "training.recompute=full",
                        "training.recompute-ahead=230KiB"));
        assertTrue(launched.errors().contains("node b was refused: it has blocks within training.recompute-ahead = "),
                launched::errors);
    }

    /** The emulated nodes keep time, so that a stage's is known; on a busy machine it is named some steps later. */
    @Tag("long")
    @Test
    void shouldNameTheStageTheRankAndTheNodeThatIsSlow() throws IOException {
        Path config = write("", "");
        Execution launched = run("launch", config, "slow", small("training.steps=40", "engine.kind=emulated",
                "faults=[\"slow stage=1 factor=3 times=0\"]"));
        launched.requireDone();
        List<String> events = Files.readAllLines(directory.resolve("slow/events.jsonl")).stream()
                .filter(line -> line.contains("\"event\":\"straggler\"")).toList();
        assertFalse(events.isEmpty(), launched::output);
        assertTrue(events.stream().allMatch(event -> event.contains("stage 1 (rank 1, node b) is a straggler")),
                events::toString);
        Matcher step = STEP_OF_STAGE_1.matcher(events.getFirst());
        assertTrue(step.find(), events::toString);
        assertTrue(launched.output().contains("step " + step.group(1) + ": stage 1 (rank 1, node b) is a straggler"),
                launched::output);
    }
}
