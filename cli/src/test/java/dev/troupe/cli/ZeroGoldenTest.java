package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.cli.ParallelGoldenTest.Grid;
import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code training.zero}: ranks with the same weights that divide their state, against PyTorch. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class ZeroGoldenTest {
    private static final List<String> SCHEDULES = List.of("gpipe", "1f1b", "interleaved-1f1b");
    private static final int MOST_ZERO = 3;

    @TempDir
    private Path directory;

    /** A grid and the state that its data-parallel ranks divide. */
    record Shared(int zero, Grid grid) {
        List<String> settings(Golden golden, String... more) {
            List<String> settings = grid.settings(golden);
            settings.add("training.zero=" + zero);
            if (!grid.schedule().startsWith("interleaved")) {
                settings.add("parallel.virtual-stages=1");
            }
            settings.addAll(List.of(more));
            return settings;
        }

        @Override
        public String toString() {
            return "ZeRO-" + zero + ", " + grid;
        }
    }

    /** One of each degree, with both other dimensions. */
    static Stream<Shared> someGrids() {
        return grids().filter(shared -> shared.grid().pipeline() == 2 && shared.grid().tensor() == 2
                && shared.grid().data() == 2);
    }

    static Stream<Shared> otherGrids() {
        List<Shared> some = someGrids().toList();
        return grids().filter(shared -> !some.contains(shared));
    }

    private static Stream<Shared> grids() {
        List<Shared> grids = new ArrayList<>();
        List<String> names = List.of(Golden.TIED, Golden.UNEVEN, Golden.UNTIED);
        for (int zero = 1; zero <= MOST_ZERO; zero++) {
            for (int data : List.of(2, 4)) {
                for (int pipeline : List.of(1, 2)) {
                    for (int tensor : List.of(1, 2)) {
                        int number = grids.size();
                        grids.add(new Shared(zero, new Grid(names.get(number / 2 % 3), pipeline, tensor, data,
                                tensor == 2 && data == 2, SCHEDULES.get(number % 3))));
                    }
                }
            }
        }
        return grids.stream();
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("otherGrids")
    void shouldTrainAsPyTorchDoesOnOtherGrids(Shared shared) {
        shouldTrainAsPyTorchDoes(shared);
    }

    @ParameterizedTest
    @MethodSource("someGrids")
    void shouldTrainAsPyTorchDoes(Shared shared) {
        Golden golden = Golden.named(shared.grid().name());
        GoldenRun run = new GoldenRun(golden, shared.settings(golden), directory);
        run.requireFloat64("reference");
        run.requireFloat32("cpu");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, interleaved-1f1b", "2, 1f1b", "3, interleaved-1f1b"})
    void shouldContinueUnderAnotherGrid(int zero, String schedule) {
        Golden golden = Golden.named(Golden.TIED);
        Shared grid = new Shared(zero, new Grid(Golden.TIED, 2, 2, 2, true, schedule));
        Shared alone = new Shared(0, new Grid(Golden.TIED, 1, 1, 1, false, "gpipe"));
        double[] fromGrid = cut("from-grid", grid, alone);
        double[] toGrid = cut("to-grid", alone, grid);
        double[] expected = golden.losses();
        for (int step = 0; step < expected.length; step++) {
            assertEquals(expected[step], fromGrid[step], 1e-9 * expected[step], "loss of step " + step);
            assertEquals(expected[step], toGrid[step], 1e-9 * expected[step], "loss of step " + step);
        }
    }

    /** The losses of a run with its first steps on one grid and the others on another. */
    private double[] cut(String name, Shared first, Shared then) {
        Golden golden = Golden.named(first.grid().name());
        Path run = directory.resolve(name);
        Execution.train(run, first.settings(golden, "engine.kind=reference", "training.precision=float64",
                "training.steps=2")).requireDone();
        List<String> command = new ArrayList<>(List.of("train", "--resume", run.toString()));
        then.settings(golden).forEach(setting -> command.addAll(List.of("-s", setting)));
        Execution.of(command).requireDone();
        return RunFiles.metrics(run, "loss");
    }
}
