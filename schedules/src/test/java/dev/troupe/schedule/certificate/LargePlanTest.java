package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.lowering.AddNormAndUpdate;
import dev.troupe.schedule.lowering.AddTransfers;
import java.time.Duration;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Plans of the largest sizes in each direction: no check takes the square of a size. */
@Tag("plan")
class LargePlanTest {
    /** Each takes some seconds at most. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void shouldCertifyManyStagesOfARank() {
        int stages = 50_000;
        Certificate certificate = within(() -> certify(cells(0, stages, stage -> stage + "F0") + ","
                + cells(0, stages, stage -> stages - 1 - stage + "B0")));
        assertEquals(stages, certificate.peakActivations().getFirst());
    }

    @Test
    void shouldCertifyManyRanks() {
        int ranks = 1_000;
        Certificate certificate = within(() -> certify(IntStream.range(0, ranks)
                .mapToObj(rank -> rank + "F0," + rank + "B0\n").collect(Collectors.joining())));
        assertEquals(ranks, certificate.plan().rankCount());
    }

    @Test
    void shouldCertifyManySteps() {
        int steps = 100_000;
        Plan plan = Plan.fromCsv("steps", Laps.LOOP,
                cells(0, steps, step -> "0F%1$d@%1$d,0B%1$d@%1$d,0UPDATE%1$d".formatted(step)));
        Certificate certificate = within(() -> PlanValidator.certify(plan, Purpose.TRAINING, 1));
        assertEquals(1, certificate.weights().liveVersions().getFirst());
    }

    @Test
    void shouldShowTheFirstRanksOfALongDeadlock() {
        int ranks = 1_000;
        PlanException refusal = within(() -> assertThrows(PlanException.class, () -> certify(IntStream.range(0, ranks)
                .mapToObj(rank -> rank + "F1," + rank + "F0," + rank + "B0," + rank + "B1\n")
                .collect(Collectors.joining()).replaceFirst("F1,0F0", "F0,0F1").replaceFirst("0B0,0B1", "0B1,0B0"))));
        assertTrue(refusal.getMessage().length() < 20_000, refusal::sentence);
    }

    private static Certificate certify(String csv) {
        Plan plan = Plan.fromCsv("large", Laps.LOOP, csv);
        return PlanValidator.certify(new AddNormAndUpdate(false).apply(new AddTransfers().apply(plan)),
                Purpose.TRAINING, 1);
    }

    private static String cells(int from, int to, IntFunction<String> cell) {
        return IntStream.range(from, to).mapToObj(cell).collect(Collectors.joining(","));
    }

    private static <T> T within(Supplier<T> work) {
        return assertTimeoutPreemptively(PATIENCE, work::get);
    }
}
