package dev.troupe.bench.pairs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.bench.Arrangement;
import dev.troupe.bench.BenchmarkModel;
import dev.troupe.bench.MeasuredRun;
import dev.troupe.bench.profile.HeapUse;
import dev.troupe.bench.profile.ThreadTimes;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        assertEquals(List.of(0.25, 0.5), run.stepSeconds());
        assertEquals(List.of(5.5, 5.25, 5.0), run.losses());
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
    void shouldAddUpTheProcessorTimeOfAllRanksOfAPeer() throws Exception {
        PeerRun run = peer("""
                echo "library fast products"
                echo "step 0 seconds 0.25 loss 5.25"
                echo "processor seconds 0.5"
                echo "processor seconds 0.25"
                """, 0, 1);
        assertEquals(0.75, run.processorSeconds());
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
    void shouldSkipThePeerWithAWordWhereThereIsNone() throws Exception {
        assertEquals(Optional.empty(), PeerRun.torchVersion("no-such-command"));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PeerBenchmark benchmark = new PeerBenchmark(new PrintStream(text, true, StandardCharsets.UTF_8));
        assertEquals(0, new CommandLine(benchmark).execute("--script", "unused", "--python", "no-such-command"));
        assertEquals("The comparison with PyTorch is skipped: no-such-command cannot import torch.",
                text.toString(StandardCharsets.UTF_8).strip());
    }

    private PeerRun peer(String script, int warmupSteps, int steps) throws Exception {
        Path file = Files.writeString(directory.resolve("peer.sh"), script);
        return PeerRun.of(List.of("sh", file.toString()), Map.of(), TINY, directory.resolve("tokens"), warmupSteps,
                steps);
    }

    private static MeasuredRun ours(double stepSeconds) {
        return new MeasuredRun(List.of(stepSeconds), List.of(5.5, 5.25),
                new ThreadTimes(Map.of("rank 0", 250_000_000L)), List.of(), Map.of(),
                new HeapUse(0, 0));
    }

    private static PeerRun theirs(double stepSeconds) {
        return new PeerRun(List.of(stepSeconds), List.of(5.501, 5.251), 0.5, "");
    }
}
