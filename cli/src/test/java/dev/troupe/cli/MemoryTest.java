package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A run takes the memory that it announced. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class MemoryTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"gpipe, 1, 1, none", "gpipe, 1, 1, full", "gpipe, 4, 1, none", "gpipe, 2, 1, full", "1f1b, 4, 1, none",
            "1f1b, 4, 1, selective", "1f1b, 3, 1, full", "interleaved-1f1b, 2, 2, selective", "zb-h1, 2, 1, full",
            "zbv, 2, 2, none", "zbv, 2, 2, full", "looped-bfs, 2, 2, none"})
    void shouldTakeTheAnnouncedMemory(String schedule, int pipeline, int virtualStages, String recompute) {
        assertTakesWhatItAnnounces(schedule, pipeline, virtualStages, recompute);
    }

    @ParameterizedTest
    @CsvSource({"1f1b, 2, 2, 1, false, none, 0", "1f1b, 2, 2, 2, true, selective, 0.1", "gpipe, 1, 4, 1, true, full, 0",
            "zb-h1, 2, 1, 2, false, none, 0.1", "gpipe, 1, 1, 4, false, selective, 0",
            "1f1b, 2, 4, 2, true, none, 0.1", "pipedream-2bw, 2, 2, 2, true, none, 0"})
    void shouldTakeTheAnnouncedMemoryOnAGrid(String schedule, int pipeline, int tensor, int data, boolean sequence,
            String recompute, double dropout) {
        assertTakesWhatItAnnounces(schedule, pipeline, 1, recompute, "parallel.tensor=" + tensor,
                "parallel.data=" + data, "parallel.sequence=" + sequence, "training.dropout=" + dropout);
    }

    @ParameterizedTest
    @CsvSource({"1f1b, 3, 1, all, 1", "zbv, 2, 2, 1, 2", "gpipe, 2, 1, 1, 1"})
    void shouldTakeTheAnnouncedMemoryWhenBlocksAreReplayedAhead(String schedule, int pipeline, int virtualStages,
            String ahead, int every) {
        assertTakesWhatItAnnounces(schedule, pipeline, virtualStages, "full", "training.recompute-ahead=" + ahead,
                "training.recompute-every=" + every);
    }

    /** On every grid; one tensor-parallel rank keeps whole inputs. */
    @ParameterizedTest
    @CsvSource({"1, 1, 0", "1, 1, 3", "1, 2, 0", "1, 2, 1", "1, 2, 2", "1, 2, 3", "2, 1, 1", "2, 1, 2", "2, 2, 0",
            "2, 2, 1", "2, 2, 2", "2, 2, 3"})
    void shouldTakeTheAnnouncedMemoryIfRanksDivideKeptInputs(int pipeline, int tensor, int zero) {
        assertTakesWhatItAnnounces("gpipe", pipeline, 1, "full", "training.recompute-partition=true",
                "parallel.tensor=" + tensor, "parallel.data=2", "training.zero=" + zero);
    }

    /** On one stage to the byte; each further microbatch keeps half of the input of each of two blocks less. */
    @Test
    void shouldKeepAPartOfEachInput() {
        assertTakesWhatItAnnounces(directory.resolve("run"), dividing(true, 4))
                .forEach(rank -> assertEquals(rank[0], rank[1]));
        long input = 8 * 16 * 4;
        assertEquals(4 * 2 * input / 2, growth(false) - growth(true));
    }

    /** Inputs in files: each further microbatch takes less memory by the inputs of two blocks. */
    @Test
    void shouldKeepNoInputInMemoryIfItIsInAFile() {
        List<String> inMemory = new ArrayList<>(dividing(false, 8));
        List<String> inFiles = new ArrayList<>(dividing(false, 8));
        inFiles.add("offload.activations=disk");
        RankMemory rank = announced(inFiles).ranks().getFirst();
        assertEquals(8 * 2 * 8 * 16 * 4, rank.offloaded());
        assertTrue(announced(inMemory).largestAtHome() - announced(inFiles).largestAtHome() >= 7 * 2 * 8 * 16 * 4);
        assertTakesWhatItAnnounces(directory.resolve("run"), inFiles)
                .forEach(both -> assertEquals(both[0], both[1]));
    }

    /** A run that is refused in this much memory trains with its optimizer's state in files, and takes what it announces. */
    @Test
    void shouldTrainInLessMemoryWithOptimizerStateInFiles() {
        List<String> settings = new ArrayList<>(List.of("engine.kind=" + CountingEngineProvider.KIND,
                "model.layers=4", "model.hidden=128", "model.heads=2", "model.sequence-length=8",
                "training.microbatch-size=1", "training.global-batch-size=2", "training.steps=2",
                "training.validate-every=0", "parallel.pipeline=1", "recovery.enabled=false"));
        SizedRun inMemory = sized(settings);
        settings.add("offload.optimizer=disk");
        SizedRun offloaded = sized(settings);
        long available = offloaded.memory().total();
        RankMemory rank = offloaded.memory().ranks().getFirst();
        assertEquals(inMemory.memory().ranks().getFirst().optimizer(), rank.offloaded());
        assertEquals(2 * (1 << 18) * Float.BYTES, rank.optimizer(), "a chunk of both moments");
        assertThrows(UsageException.class, () -> inMemory.requireRoom(available));
        offloaded.requireRoom(available);
        assertTakesWhatItAnnounces(directory.resolve("run"), settings)
                .forEach(both -> assertEquals(both[0], both[1]));
    }

    /** Returns the announced bytes of four further microbatches. */
    private long growth(boolean divides) {
        return announced(dividing(divides, 8)).largestAtHome() - announced(dividing(divides, 4)).largestAtHome();
    }

    private static List<String> dividing(boolean divides, int microbatches) {
        return List.of("engine.kind=" + CountingEngineProvider.KIND, "model.layers=2", "model.hidden=16",
                "model.heads=2", "model.sequence-length=8", "training.microbatch-size=1",
                "training.global-batch-size=" + microbatches, "training.steps=2", "training.validate-every=0",
                "parallel.pipeline=1", "parallel.tensor=2", "parallel.schedule=gpipe", "training.recompute=full",
                "training.recompute-partition=" + divides);
    }

    /** Each half that is dropped takes less. */
    @ParameterizedTest
    @CsvSource({"1f1b, 2, 1, none, 0, 0", "zb-h1, 2, 2, full, 0.1, 3", "gpipe, 4, 1, selective, 0, 0",
            "gpipe, 1, 2, full, 0, 2"})
    void shouldTakeAtMostTheAnnouncedMemoryIfHalvesAreDropped(String schedule, int pipeline, int data, String recompute,
            double dropout, int zero) {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=" + CountingEngineProvider.KIND,
                "parallel.pipeline=" + pipeline, "parallel.data=" + data, "parallel.schedule=" + schedule,
                "training.microbatch-size=1", "training.recompute=" + recompute, "training.zero=" + zero,
                "training.dropout=" + dropout, "training.layer-drop.keep=0.4", "training.steps=3");
        List<RankMemory> announced = announced(settings).ranks();
        CountingEngineProvider.takePeaks();
        CountingEngineProvider.takeWarmUpPeaks();
        Execution.train(directory.resolve("run"), settings).requireDone();
        List<Long> taken = CountingEngineProvider.takePeaks();
        for (RankMemory rank : announced) {
            long bytes = taken.get(rank.rank() + 1);
            assertTrue(bytes > 0 && bytes <= rank.total() - rank.snapshots() - rank.copies(), rank + " took " + bytes);
        }
    }

    /** However uneven the loads of the experts are. */
    @ParameterizedTest
    @CsvSource({"mixtral-aux, 1f1b, 2, 2, none", "qwen3moe, zb-h1, 2, 1, full",
            "qwen3moe-dense-between, gpipe, 3, 1, selective", "glm4moe, 1f1b, 2, 2, full"})
    void shouldTakeTheAnnouncedMemoryWithExperts(String name, String schedule, int pipeline, int tensor,
            String recompute) {
        assertTakesWhatItAnnounces(name, schedule, pipeline, 1, recompute, "parallel.tensor=" + tensor);
    }

    /** A rank may receive all rows of all ranks that divide the experts. */
    @ParameterizedTest
    @CsvSource({"mixtral-aux, 1f1b, 2, 1, none, 0", "mixtral, gpipe, 2, 1, selective, 2",
            "qwen3moe, zb-h1, 2, 2, full, 3", "qwen3moe, zb-h1, 1, 2, none, 2"})
    void shouldTakeTheAnnouncedMemoryIfRanksDivideTheExperts(String name, String schedule, int pipeline, int tensor,
            String recompute, int zero) {
        assertTakesWhatItAnnounces(name, schedule, pipeline, 1, recompute, "parallel.tensor=" + tensor,
                "parallel.data=2", "parallel.expert=2", "training.zero=" + zero);
    }

    /** The sums of a tree wait for their neighbour, as wholes or as shares. */
    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 1, 1, 0", "gpt2-tied-adamw, 2, 1, 1", "gpt2-tied-adamw, 2, 1, 3",
            "mixtral-aux, 4, 2, 2", "mixtral-aux, 2, 2, 3"})
    void shouldTakeTheAnnouncedMemoryWithOneTreeOfSums(String name, int data, int expert, int zero) {
        assertTakesWhatItAnnounces(name, "1f1b", 2, 1, "none", "parallel.invariant=[data, expert]",
                "parallel.data=" + data, "parallel.expert=" + expert, "training.zero=" + zero,
                "training.global-batch-size=8");
    }

    private void assertTakesWhatItAnnounces(String schedule, int pipeline, int virtualStages, String recompute,
            String... more) {
        assertTakesWhatItAnnounces(Golden.TIED, schedule, pipeline, virtualStages, recompute, more);
    }

    private void assertTakesWhatItAnnounces(String name, String schedule, int pipeline, int virtualStages,
            String recompute, String... more) {
        List<String> settings = Golden.named(name).settings("engine.kind=" + CountingEngineProvider.KIND,
                "parallel.pipeline=" + pipeline, "parallel.virtual-stages=" + virtualStages,
                "parallel.schedule=" + schedule, "training.microbatch-size=1", "training.recompute=" + recompute,
                "training.steps=3", "training.validate-every=1");
        settings.addAll(List.of(more));
        assertTakesWhatItAnnounces(directory.resolve("run"), settings);
    }

    /** Returns for each rank the bytes of its engine that were announced, and those that were taken. */
    private List<long[]> assertTakesWhatItAnnounces(Path run, List<String> settings) {
        List<RankMemory> announced = announced(settings).ranks();
        CountingEngineProvider.takePeaks();
        CountingEngineProvider.takeWarmUpPeaks();
        Execution.train(run, settings).requireDone();
        // The first engine was asked for sizes, and held nothing; the last ones, if any, exported the model.
        List<Long> taken = CountingEngineProvider.takePeaks();
        assertEquals(0, taken.getFirst());
        long largest = announced.stream().mapToLong(rank -> rank.total() - rank.snapshots() - rank.copies()).max()
                .orElseThrow();
        List<Long> warmUp = CountingEngineProvider.takeWarmUpPeaks();
        assertEquals(announced.size(), warmUp.size());
        assertTrue(warmUp.stream().allMatch(bytes -> bytes > 0 && bytes <= largest), warmUp + " of " + largest);
        List<long[]> both = new ArrayList<>();
        for (RankMemory rank : announced) {
            long bytes = taken.get(rank.rank() + 1);
            String numbers = rank + " took " + bytes;
            long ofTheEngine = rank.total() - rank.snapshots() - rank.copies(); // which are host memory
            assertTrue(bytes <= ofTheEngine, numbers);
            // How many tensors wait for the transport depends on who is quicker.
            assertTrue(bytes >= ofTheEngine - rank.boundary(), numbers);
            both.add(new long[]{ofTheEngine, bytes});
        }
        return both;
    }

    /** Fifty cuts of 14 layers, between halves of blocks too, of which the largest stage has up to 11. */
    static Stream<Arguments> unevenLayouts() {
        List<String> letters = List.of("E", "a", "m", "a", "m", "a", "m", "a", "m", "a", "m", "a", "m", "L");
        Random drawn = new Random(45);
        return IntStream.range(0, 50).mapToObj(draw -> {
            int virtualStages = 1 + draw % 2;
            int ranks = virtualStages == 1 ? 2 + drawn.nextInt(3) : 2;
            return Arguments.of(ranks, virtualStages, layout(letters, ranks * virtualStages, drawn));
        });
    }

    @Dealt(5)
    @ParameterizedTest
    @MethodSource("unevenLayouts")
    void shouldTakeTheAnnouncedMemoryOfAnUnevenLayoutWithinAPercent(int ranks, int virtualStages, String layout) {
        List<String> settings = List.of("engine.kind=" + CountingEngineProvider.KIND, "model.layers=6",
                "model.hidden=128", "model.heads=4", "model.sequence-length=8", "training.microbatch-size=1",
                "training.global-batch-size=4", "training.steps=1", "training.validate-every=0",
                "training.checkpoint-every=0", "parallel.pipeline=" + ranks, "parallel.virtual-stages=" + virtualStages,
                "parallel.schedule=" + (virtualStages == 1 ? "1f1b" : "interleaved-1f1b"),
                "parallel.layout=" + layout);
        List<long[]> both = assertTakesWhatItAnnounces(directory.resolve("run"), settings);
        long[] heaviest = both.stream().max(Comparator.comparingLong(one -> one[1])).orElseThrow();
        assertTrue(heaviest[0] - heaviest[1] <= heaviest[1] / 100,
                () -> "announced " + heaviest[0] + ", taken " + heaviest[1]);
    }

    private static String layout(List<String> letters, int stageCount, Random drawn) {
        Set<Integer> borders = new TreeSet<>();
        while (borders.size() < stageCount - 1) {
            borders.add(1 + drawn.nextInt(letters.size() - 1));
        }
        StringBuilder layout = new StringBuilder();
        for (int layer = 0; layer < letters.size(); layer++) {
            layout.append(borders.contains(layer) ? "|" : "").append(letters.get(layer));
        }
        return layout.toString();
    }

    @ParameterizedTest
    @CsvSource({"0, 1f1b, 1, none", "1, 1f1b, 1, none", "2, zb-h1, 1, selective", "2, gpipe, 1, none",
            "3, interleaved-1f1b, 2, full", "3, zb-h1, 1, selective", "1, pipedream-2bw, 1, none"})
    void shouldTakeTheAnnouncedMemoryWhenRanksShareTheirState(int zero, String schedule, int virtualStages,
            String recompute) {
        assertTakesWhatItAnnounces(schedule, 2, virtualStages, recompute, "parallel.data=2", "training.zero=" + zero);
    }

    @Test
    void shouldReportTheMemoryBeforeItTrains() {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=1");
        MemoryPlan memory = announced(settings);
        String output = Execution.train(directory.resolve("run"), settings).requireDone().output();
        long largest = memory.ranks().getFirst().pool().free().largestBytes();
        assertTrue(largest > 0 && largest < memory.ranks().getFirst().activations(), "" + memory.ranks().getFirst());
        assertTrue(output.replaceAll("\\s+", " ").matches(".*the largest free tensor has \\d+ to \\d+ % of them.*"),
                output);
        assertTrue(output.contains("needs at most " + MemoryPlan.text(memory.total()) + " for tensors"), output);
        assertTrue(output.lines().anyMatch(line -> line.startsWith("0     ")
                && line.contains(MemoryPlan.text(memory.ranks().getFirst().activations()))), output);
    }

    private MemoryPlan announced(List<String> settings) {
        return sized(settings).memory();
    }

    private SizedRun sized(List<String> settings) {
        RunRequest request = new RunRequest(RunSpecReader.read(Optional.empty(), settings), BuiltInCorpus.utf8(),
                directory.resolve("prepared"), Optional.empty(), OptionalLong.empty());
        try (OpenedRun opened = OpenedRun.of(request)) {
            return SizedRun.of(PlannedRun.of(opened));
        }
    }
}
