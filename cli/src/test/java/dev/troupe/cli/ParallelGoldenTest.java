package dev.troupe.cli;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code troupe train} against PyTorch on grids of pipeline x tensor x data. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class ParallelGoldenTest {
    private static final List<String> SCHEDULES = List.of("gpipe", "1f1b", "interleaved-1f1b");

    @TempDir
    private Path directory;

    /** A grid and its settings. */
    record Grid(String name, int pipeline, int tensor, int data, boolean sequence, String schedule) {
        List<String> settings(Golden golden) {
            List<String> settings = golden.settings("parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline,
                    "parallel.tensor=" + tensor, "parallel.data=" + data, "parallel.sequence=" + sequence,
                    "training.microbatch-size=1");
            if (schedule.startsWith("interleaved")) {
                settings.add("parallel.virtual-stages=" + (pipeline == 4 ? 1 : 2));
            }
            return settings;
        }

        boolean isInEveryBuild() {
            int ranks = pipeline * tensor * data;
            return pipeline < 4 && (ranks == 4
                    || ranks <= 8 && !name.equals(Golden.TIED) && schedule.equals("interleaved-1f1b"));
        }

        @Override
        public String toString() {
            return name + ": P=" + pipeline + " T=" + tensor + " D=" + data + (sequence ? ", sequence" : "") + ", "
                    + schedule;
        }
    }

    static Stream<Grid> grids() {
        return all().filter(Grid::isInEveryBuild);
    }

    static Stream<Grid> otherGrids() {
        return all().filter(grid -> !grid.isInEveryBuild());
    }

    private static Stream<Grid> all() {
        List<Grid> grids = new ArrayList<>();
        // 4 heads, tied, a vocabulary of 64
        for (int pipeline : List.of(1, 2, 4)) {
            for (int tensor : List.of(1, 2, 4)) {
                for (int data : List.of(1, 2)) {
                    for (boolean sequence : tensor == 1 ? List.of(false) : List.of(false, true)) {
                        grids.add(new Grid(Golden.TIED, pipeline, tensor, data, sequence,
                                SCHEDULES.get(grids.size() % SCHEDULES.size())));
                    }
                }
            }
        }
        for (String schedule : SCHEDULES) {
            grids.add(new Grid(Golden.UNTIED, 2, 2, 2, true, schedule));
            // a vocabulary of 97, which no group divides
            grids.add(new Grid(Golden.UNEVEN, 2, 2, 2, false, schedule));
            grids.add(new Grid(Golden.UNEVEN, 3, 3, 1, true, schedule));
        }
        return grids.stream();
    }

    @ParameterizedTest
    @MethodSource("grids")
    void shouldTrainAsPyTorchDoes(Grid grid) {
        Golden golden = Golden.named(grid.name());
        GoldenRun run = new GoldenRun(golden, grid.settings(golden), directory);
        run.requireFloat64("reference");
        run.requireFloat32("cpu");
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("otherGrids")
    void shouldTrainAsPyTorchDoesOnOtherGrids(Grid grid) {
        shouldTrainAsPyTorchDoes(grid);
    }
}
