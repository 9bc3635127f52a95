package dev.troupe.bench.pairs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.bench.Arrangement;
import dev.troupe.bench.BenchmarkModel;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Timeout(60)
class PeerBenchmarkTest {
    private static final PeerCase TINY = new PeerCase(new BenchmarkModel("tiny", 2, 8, 2, 4, 256, 2, 1),
            new Arrangement(2, 1, "1f1b"), 1, "float32");

    @TempDir
    private Path directory;

    @Test
    void shouldReadTheStepsOfAPeerAndDropItsWarmUp() throws Exception {
        PeerRun run = peer("""
                echo "a warning"
                echo "step 0 seconds 9.5 loss 5.50"
                echo "step 1 seconds 0.25 loss 5.25"
                echo "step 2 seconds 0.5 loss 5.00"
                """, 1, 2);
        assertEquals(List.of(0.25, 0.5), run.steps().seconds());
        assertEquals(List.of(5.5, 5.25, 5.0), run.steps().losses());
    }

    @Test
    void shouldRefuseAPeerThatStopsEarlyOrFails() {
        assertThrows(IllegalStateException.class, () -> peer("echo step 0 seconds 1 loss 2", 1, 2));
        assertThrows(IllegalStateException.class, () -> peer("echo step 0 seconds 1 loss 2; exit 3", 0, 1));
    }

    @Test
    void shouldTakeTheRatioOfEachPairAndNotOfTheMedians() {
        PeerPairs pairs = new PeerPairs(TINY);
        // 8 tokens a step: 8 and 4, 16 and 4, 2 and 2 tokens a second.
        pairs.add(ours(1), theirs(2));
        pairs.add(ours(0.5), theirs(2));
        pairs.add(ours(4), theirs(4));
        assertEquals(
                "| tiny, 2 ranks, 1f1b, float32 | 8 | 4 | **2.00** | 1.00 to 4.00 | 0.25 s, 0.50 s | **2.00** | 2.00 to 2.00 | 3 | 1.9e-04 |",
                PeerPairs.table(List.of(pairs)).lines().toList().getLast());
    }

    @Test
    void shouldLeaveOutProcessorTimeThatOneSideDoesNotKnow() {
        PeerPairs pairs = new PeerPairs(TINY);
        pairs.add(new TimedSteps(List.of(1.0), List.of(5.501, 5.251), 0), theirs(2));
        assertEquals("| tiny, 2 ranks, 1f1b, float32 | 8 | 4 | **2.00** | 2.00 to 2.00 |  |  |  | 1 | 0.0e+00 |",
                PeerPairs.table(List.of(pairs)).lines().toList().getLast());
    }

    @Test
    void shouldGiveThePeerTheStagesOfAZeroBubbleSchedule() {
        List<PeerCase> cases = PeerCase.ALL.stream().filter(PeerCase::isZeroBubble).toList();
        assertEquals(List.of("wide-2-interleaved-zero-bubble-float32", "wide-2-zbv-float32"),
                cases.stream().map(PeerCase::name).toList());
        assertEquals(
                List.of("--ranks", "2", "--threads", "1", "--schedule", "zbv", "--virtual-stages", "2"),
                cases.getLast().peerArguments().subList(0, 8));
    }

    @Test
    void shouldNameOnlyTrainingsThatBothSidesDo() {
        assertEquals(List.of("wide-1-float32"), listed("--only", "wide-1"));
        assertEquals(List.of(), listed("--only", "wide-1", "--jvms"));
        assertEquals(List.of("wide-2-zbv-float32"), listed("--only", "zbv", "--jvms"));
        assertEquals(List.of(), listed("--only", "zbv", "--compile"));
        assertEquals(List.of(), listed("--only", "zbv", "--libtorch", "unused"));
    }

    @Test
    void shouldLaunchAJvmForEachRankAndDropItsWarmUp() throws Exception {
        executable("bench/cluster/cluster-file", "echo \"$1 nodes, $2 ranks\"");
        executable("troupe", """
                [ "$1" = launch ] && [ "$3" = --out ] && [ "$5 $6" = "-s training.steps=2" ] || exit 3
                [ "$(cat "$2")" = "4 nodes, 4 ranks" ] || exit 4
                mkdir "$4"
                echo '{"step_seconds": 9.5, "loss": 5.5}' >"$4/metrics.jsonl"
                echo '{"step_seconds": 0.5, "loss": 5.25}' >>"$4/metrics.jsonl"
                """);
        TimedSteps run = CommandRun.launched(directory, 4, List.of("training.steps=2"), 1);
        assertEquals(List.of(0.5), run.seconds());
        assertEquals(List.of(5.5, 5.25), run.losses());
    }

    @Test
    void shouldAddUpTheProcessorTimeOfAllRanksOfAPeer() throws Exception {
        PeerRun run = peer("""
                echo "library fast products"
                echo "step 0 seconds 0.25 loss 5.25"
                echo "processor seconds 0.5"
                echo "processor seconds 0.25"
                """, 0, 1);
        assertEquals(0.75, run.steps().processorSeconds());
        assertEquals("fast products", run.library());
    }

    @Test
    void shouldRefuseLossesThatPart() {
        PeerPairs pairs = new PeerPairs(TINY);
        pairs.add(ours(1), theirs(2));
        pairs.requireEqualLosses(2e-4);
        assertThrows(IllegalStateException.class, () -> pairs.requireEqualLosses(1e-4));
    }

    @Test
    void shouldSkipThePeerWithASentenceWhenThereIsNone() throws Exception {
        assertEquals(Optional.empty(), PeerRun.torchVersion("no-such-command"));
        assertEquals("The comparison with PyTorch is skipped: no-such-command cannot import torch.",
                printed("--script", "unused", "--python", "no-such-command"));
    }

    private static List<String> listed(String... options) {
        return printed(Stream.concat(Stream.of("--list"), Stream.of(options)).toArray(String[]::new)).lines().toList();
    }

    private static String printed(String... arguments) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PeerBenchmark benchmark = new PeerBenchmark(new PrintStream(text, true, StandardCharsets.UTF_8));
        assertEquals(0, new CommandLine(benchmark).execute(arguments));
        return text.toString(StandardCharsets.UTF_8).strip();
    }

    private void executable(String name, String script) throws Exception {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + script);
        assertTrue(file.toFile().setExecutable(true));
    }

    private PeerRun peer(String script, int warmupSteps, int steps) throws Exception {
        Path file = Files.writeString(directory.resolve("peer.sh"), script);
        return PeerRun.of(List.of("sh", file.toString()), Map.of(), TINY, directory.resolve("tokens"), warmupSteps,
                steps);
    }

    private static TimedSteps ours(double stepSeconds) {
        return new TimedSteps(List.of(stepSeconds), List.of(5.5, 5.25), 0.25);
    }

    private static TimedSteps theirs(double stepSeconds) {
        return new TimedSteps(List.of(stepSeconds), List.of(5.501, 5.251), 0.5);
    }
}
