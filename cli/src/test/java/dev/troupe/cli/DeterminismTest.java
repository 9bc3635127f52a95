package dev.troupe.cli;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The runs that agree bit for bit: losses, gradient norms and rates as text, exported weights as bytes. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class DeterminismTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"reference, 1", "nd4j, 1", "nd4j, 2", "cpu, 1", "cpu, 2"})
    void shouldRepeatARunBitForBit(String engine, int threads) {
        List<String> settings = Golden.named(Golden.UNEVEN).settings("engine.kind=" + engine,
                "engine.threads=" + threads, "parallel.pipeline=3", "training.microbatch-size=3");
        RunFiles.assertSameBits(train("first", settings), train("second", settings));
    }

    @ParameterizedTest
    @CsvSource({"nd4j", "cpu"})
    void shouldGiveTheSameBitsOverEverySplitAndOrder(String engine) {
        Golden golden = Golden.named(Golden.TIED);
        String computed = "engine.kind=" + engine;
        String batches = "training.microbatch-size=2";
        Path one = train("one", golden.settings(computed, batches, "parallel.schedule=gpipe"));
        int number = 0;
        for (List<String> split : List.of(
                List.of("parallel.pipeline=2", "parallel.schedule=gpipe", "parallel.layout=parameters"),
                List.of("parallel.pipeline=3", "parallel.schedule=1f1b", "parallel.layout=Et|ttt|L"),
                List.of("parallel.pipeline=4", "parallel.schedule=1f1b"),
                List.of("parallel.pipeline=2", "parallel.schedule=interleaved-1f1b", "parallel.virtual-stages=2"))) {
            List<String> settings = golden.settings(computed, batches);
            settings.addAll(split);
            RunFiles.assertSameBits(one, train("split-" + number++, settings));
        }
    }

    @Tag("long")
    @Test
    void shouldGiveTheSameBitsOverEverySplitAndOrderOnReferenceToo() {
        shouldGiveTheSameBitsOverEverySplitAndOrder("reference");
    }

    @Test
    void shouldGiveTheSameBitsForAnyNumberOfThreadsOfTheCpuEngine() {
        Path one = train("one", threadsOfTwoRanks(1));
        for (int threads : new int[]{2, 3, 5}) {
            RunFiles.assertSameBits(one, train("threads-" + threads, threadsOfTwoRanks(threads)));
        }
    }

    private static List<String> threadsOfTwoRanks(int threads) {
        return Golden.named(Golden.TIED).settings("engine.kind=cpu", "engine.threads=" + threads,
                "parallel.pipeline=2", "training.microbatch-size=4");
    }

    @Test
    void shouldGiveTheSameBitsWhateverTheTransportCarriesAtATime() {
        Golden golden = Golden.named(Golden.UNTIED);
        Path narrow = train("narrow", golden.settings("engine.kind=reference", "parallel.pipeline=4",
                "transport.credits=1", "transport.term-length=1MiB"));
        Path wide = train("wide",
                golden.settings("engine.kind=reference", "parallel.pipeline=4", "transport.credits=8"));
        RunFiles.assertSameBits(narrow, wide);
    }

    private Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }
}
