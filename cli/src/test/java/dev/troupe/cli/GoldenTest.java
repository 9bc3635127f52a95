package dev.troupe.cli;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code troupe train} against PyTorch: every schedule, pipelines of one to four ranks, layouts even and uneven, fewer
 * microbatches than ranks and more.
 */
@Tag("real")
@Dealt(2)
@Timeout(120)
class GoldenTest {
    /** Each schedule, a layout of each kind, one rank, two and four, and fewer microbatches than ranks. */
    private static final String SOME_TIED = """
            # 4 blocks, 8 sequences a step
            gpt2-tied-adamw, gpipe,            4, 1, E|tt|tt|L,           2
            gpt2-tied-adamw, 1f1b,             1, 1, parameters,          2
            gpt2-tied-adamw, 1f1b,             4, 1, parameters,          4
            gpt2-tied-adamw, interleaved-1f1b, 2, 2, E|t|ttt|L,           2
            gpt2-tied-adamw, interleaved-1f1b, 4, 1, uniform,             1
            """;

    /** One of each kind that the tied model has not: untied, uneven, four ranks of two stages. */
    private static final String SOME_OTHERS = """
            gpt2-untied-sgd, interleaved-1f1b, 4, 2, E|(t|)*4tt|tt|L,     2
            gpt2-uneven,     1f1b,             3, 1, Ettt|tt|tL,          6
            """;

    private static final String OTHER_TIED = """
            gpt2-tied-adamw, gpipe,            1, 1, uniform,             8
            gpt2-tied-adamw, gpipe,            2, 1, Ettt|tL,             1
            gpt2-tied-adamw, gpipe,            3, 1, parameters,          4
            gpt2-tied-adamw, 1f1b,             2, 1, uniform,             8
            gpt2-tied-adamw, 1f1b,             3, 1, Et|ttt|L,            1
            gpt2-tied-adamw, interleaved-1f1b, 1, 2, uniform,             4
            gpt2-tied-adamw, interleaved-1f1b, 3, 2, uniform,             4
            """;

    private static final String OTHERS = """
            # 8 blocks, 8 sequences a step
            gpt2-untied-sgd, gpipe,            1, 1, Et*8L,               2
            gpt2-untied-sgd, gpipe,            2, 1, parameters,          4
            gpt2-untied-sgd, gpipe,            3, 1, uniform,             8
            gpt2-untied-sgd, gpipe,            4, 1, Et|(ttt|)*2tL,       1
            gpt2-untied-sgd, 1f1b,             1, 1, uniform,             8
            gpt2-untied-sgd, 1f1b,             2, 1, Et|t*7L,             4
            gpt2-untied-sgd, 1f1b,             3, 1, parameters,          4
            gpt2-untied-sgd, 1f1b,             4, 1, uniform,             1
            gpt2-untied-sgd, interleaved-1f1b, 1, 2, Ettttttt|tL,         2
            gpt2-untied-sgd, interleaved-1f1b, 2, 2, uniform,             1
            gpt2-untied-sgd, interleaved-1f1b, 3, 2, parameters,          8
            # 6 blocks, 12 sequences a step
            gpt2-uneven,     gpipe,            1, 1, parameters,          4
            gpt2-uneven,     gpipe,            2, 1, E|t*6L,              3
            gpt2-uneven,     gpipe,            3, 1, uniform,             2
            gpt2-uneven,     gpipe,            4, 1, parameters,          6
            gpt2-uneven,     1f1b,             1, 1, uniform,             12
            gpt2-uneven,     1f1b,             2, 1, parameters,          3
            gpt2-uneven,     1f1b,             4, 1, E|ttt|ttt|L,         1
            gpt2-uneven,     interleaved-1f1b, 1, 2, parameters,          6
            gpt2-uneven,     interleaved-1f1b, 2, 2, Ett|t|t|ttL,         12
            gpt2-uneven,     interleaved-1f1b, 3, 2, Et|(t|)*4tL,         2
            gpt2-uneven,     interleaved-1f1b, 4, 2, uniform,             4
            """;

    @TempDir
    private Path directory;

    @ParameterizedTest(name = "{0}: {1}, P={2} V={3}, {4}, microbatches of {5}")
    @CsvSource(textBlock = SOME_TIED + SOME_OTHERS)
    void shouldTrainAsPyTorchDoes(String name, String schedule, int pipeline, int virtualStages, String layout,
            int microbatchSize) {
        GoldenRun run = run(name, schedule, pipeline, virtualStages, layout, microbatchSize);
        run.requireFloat64("reference");
        run.requireFloat32("cpu");
    }

    @Tag("long")
    @ParameterizedTest(name = "{0}: {1}, P={2} V={3}, {4}, microbatches of {5}")
    @CsvSource(textBlock = OTHER_TIED + OTHERS)
    void shouldTrainOtherModelsAsPyTorchDoes(String name, String schedule, int pipeline, int virtualStages,
            String layout, int microbatchSize) {
        shouldTrainAsPyTorchDoes(name, schedule, pipeline, virtualStages, layout, microbatchSize);
    }

    @ParameterizedTest(name = "{0}: {1}, P={2} V={3}, {4}, microbatches of {5}")
    @CsvSource(textBlock = SOME_OTHERS)
    void shouldTrainAsPyTorchDoesOnNd4j(String name, String schedule, int pipeline, int virtualStages, String layout,
            int microbatchSize) {
        run(name, schedule, pipeline, virtualStages, layout, microbatchSize).requireFloat32("nd4j");
    }

    @Tag("long")
    @ParameterizedTest(name = "{0}: {1}, P={2} V={3}, {4}, microbatches of {5}")
    @CsvSource(textBlock = SOME_TIED + OTHER_TIED + OTHERS)
    void shouldTrainEveryModelAsPyTorchDoesOnNd4j(String name, String schedule, int pipeline, int virtualStages,
            String layout, int microbatchSize) {
        shouldTrainAsPyTorchDoesOnNd4j(name, schedule, pipeline, virtualStages, layout, microbatchSize);
    }

    private GoldenRun run(String name, String schedule, int pipeline, int virtualStages, String layout,
            int microbatchSize) {
        Golden golden = Golden.named(name);
        return new GoldenRun(golden, golden.settings("parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline,
                "parallel.virtual-stages=" + virtualStages, "parallel.layout=" + layout,
                "training.microbatch-size=" + microbatchSize), directory);
    }
}
