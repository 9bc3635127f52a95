package dev.troupe.look.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.IdleTime;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.rank.idle.Usual;
import dev.troupe.run.news.RunNews;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class TensorBoardLogTest {
    @TempDir
    private Path directory;

    private TensorBoardLog open(long firstStep) {
        return TensorBoardLog.open(directory, new RunFacts("run", "1f1b", firstStep, 9, 640, List.of()),
                trouble -> {
                    throw new AssertionError(trouble);
                });
    }

    private static void steps(TensorBoardLog log, long from, long to, double loss) {
        for (long step = from; step < to; step++) {
            log.on(new RunNews.StepDone(new StepResult(step, loss + step, 1.5, 0.25, 1, false, Traffic.NONE), 0.5));
        }
    }

    private Map<String, Map<Long, Float>> shown() throws IOException {
        return TensorBoardFile.read(directory.resolve(TensorBoardLog.DIRECTORY));
    }

    private Path newest() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve(TensorBoardLog.DIRECTORY))) {
            return files.sorted().toList().getLast();
        }
    }

    @Test
    void shouldWriteTheScalarsOfEachStep() throws IOException {
        try (TensorBoardLog log = open(0)) {
            steps(log, 0, 300, 2); // past one byte of a step's number
            log.on(new RunNews.Validated(300, 1.75));
            log.on(new RunNews.Measured(halfIdle(299)));
        }
        Map<String, Map<Long, Float>> shown = shown();
        assertEquals(300, shown.get("training/loss").size());
        assertEquals(301f, shown.get("training/loss").get(299L));
        assertEquals(1.5f, shown.get("training/gradient_norm").get(0L));
        assertEquals(0.25f, shown.get("training/learning_rate").get(128L));
        assertEquals(1280f, shown.get("speed/tokens_per_second").get(7L));
        assertEquals(Map.of(300L, 1.75f), shown.get("validation/loss"));
        assertEquals(0.5f, shown.get("idle_share/group").get(299L), 1e-3f);
        assertEquals(0f, shown.get("idle_share/wire").get(299L));
    }

    /** Two ranks with an action of 1,000 ns each, for half of which each waits for another rank of its group. */
    private static MeasuredStep halfIdle(long step) {
        Plan plan = Plan.fromCsv("by hand", Laps.LOOP, "0F0\n1F0\n");
        List<RankTimes> ranks = Stream.of(0, 1)
                .map(rank -> new RankTimes(rank, 0, 5_000, new long[]{1}, new long[]{1_001},
                        new long[1], new long[]{500}, new long[1], new long[1], new long[1], new long[1], List.of()))
                .toList();
        StepTimes times = new StepTimes(step, StepTimes.Rows.of(plan, 1, 1), ranks, List.of("a", "a"), 0, Cause.COMMIT);
        return new MeasuredStep(times, IdleTime.of(times, Usual.UNKNOWN), Usual.UNKNOWN);
    }

    @Test
    void shouldDropTheStepsThatAResumedRunRepeats() throws IOException {
        try (TensorBoardLog log = open(0)) {
            steps(log, 0, 6, 2);
        }
        try (TensorBoardLog log = open(4)) { // within the same second
            steps(log, 4, 5, 20);
        }
        assertEquals(Map.of(0L, 2f, 1L, 3f, 2L, 4f, 3L, 5f, 4L, 24f), shown().get("training/loss"));
    }

    @Test
    void shouldBeReadableAfterACrashInsideARecord() throws IOException {
        try (TensorBoardLog log = open(0)) {
            steps(log, 0, 3, 2);
        }
        byte[] whole = Files.readAllBytes(newest());
        Files.write(newest(), Arrays.copyOf(whole, whole.length - 5));
        try (TensorBoardLog log = open(2)) {
            steps(log, 2, 4, 2);
        }
        assertEquals(Map.of(0L, 2f, 1L, 3f, 2L, 4f, 3L, 5f), shown().get("training/loss"));
        whole[whole.length - 7] ^= 1;
        Files.write(newest(), whole);
        assertThrows(AssertionError.class, this::shown, "the reader sees damage");
    }

    @Test
    void shouldBeRemovedIfARunBeginsAgain() throws IOException {
        open(0).close();
        TensorBoardLog.clear(directory);
        assertEquals(Map.of(), shown());
    }
}
