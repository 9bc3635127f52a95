package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.troupe.schedule.Lowering;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.PlanFiles;
import dev.troupe.schedule.builder.ForwardOnly;
import dev.troupe.schedule.builder.GPipe;
import dev.troupe.schedule.builder.InterleavedOneForwardOneBackward;
import dev.troupe.schedule.builder.OneForwardOneBackward;
import dev.troupe.schedule.builder.Schedules;

@Tag("plan")
class CertificateTest {
    private static final int LARGEST_PIPELINE = 6;
    private static final int MOST_VIRTUAL_STAGES = 4;
    private static final int MOST_MICROBATCHES = 16;

    @Test
    void shouldCertifyEverySmallGPipePlanWithOneCredit() {
        forEachSize(1, (p, v, m) -> {
            Certificate certificate = certify(new GPipe().plan(p, v, m), Purpose.TRAINING, 1);
            assertEquals(IntStream.range(0, p).mapToObj(rank -> m).toList(), certificate.peakActivations());
        });
    }

    @Test
    void shouldCertifyEverySmall1F1BPlanWithOneCredit() {
        forEachSize(1, (p, v, m) -> {
            Certificate certificate = certify(new OneForwardOneBackward().plan(p, v, m), Purpose.TRAINING, 1);
            assertEquals(IntStream.range(0, p).mapToObj(rank -> Math.min(m, p - rank)).toList(),
                    certificate.peakActivations());
        });
    }

    @Test
    void shouldCertifyEverySmallInterleavedPlanWithOneCreditAndRefuseOnlyUnevenRounds() {
        forEachSize(MOST_VIRTUAL_STAGES, (p, v, m) -> {
            int rounds = Math.max(1, m / p);
            if (m % rounds != 0) {
                assertThrows(PlanException.class, () -> new InterleavedOneForwardOneBackward().plan(p, v, m));
                return;
            }
            Certificate certificate = certify(new InterleavedOneForwardOneBackward().plan(p, v, m), Purpose.TRAINING,
                    1);
            assertEquals(IntStream.range(0, p)
                    .mapToObj(rank -> Math.min(m * v, (v - 1) * (m / rounds) + 2 * (p - 1 - rank) + 1)).toList(),
                    certificate.peakActivations());
        });
    }

    @Test
    void shouldCertifyEverySmallForwardOnlyPlanWithOneCredit() {
        forEachSize(MOST_VIRTUAL_STAGES, (p, v, m) -> {
            for (Placement placement : Placement.values()) {
                Certificate certificate = certify(new ForwardOnly(placement).plan(p, v, m), Purpose.FORWARD_ONLY, 1);
                assertEquals(IntStream.range(0, p).mapToObj(rank -> 1).toList(), certificate.peakActivations());
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"gpipe, 1, 8 8 8 8", "1f1b, 1, 4 3 2 1", "interleaved-1f1b, 2, 11 9 7 5",
            "interleaved-1f1b, 4, 19 17 15 13"})
    void shouldFindThePeaksOfThePapersOnFourRanks(String name, int virtualStages, String peaks) {
        Plan plan = Schedules.named(name).plan(4, virtualStages, 8);
        assertEquals(numbers(peaks), certify(plan, Purpose.TRAINING, 1).peakActivations());
    }

    @ParameterizedTest
    @CsvSource({"looped-bfs, LOOP, 16 16 16 16", "interleaved-zero-bubble, LOOP, 8 8 8 8", "zbv, V, 8 8 8 8"})
    void shouldCertifyPlansItDidNotMake(String name, Placement placement, String peaks) {
        Plan plan = Plan.fromCsv(name, placement, PlanFiles.csv(name, 4, 2, 8));
        assertEquals(numbers(peaks), certify(plan, Purpose.TRAINING, 1).peakActivations());
    }

    /** Stages per rank, microbatches, ranks: the sizes that PyTorch checks its interleaved plans on. */
    @ParameterizedTest
    @CsvSource({"2, 2, 2", "2, 4, 4", "2, 8, 2", "2, 8, 4", "2, 8, 8", "4, 4, 4", "4, 8, 4", "4, 8, 8", "4, 16, 4",
            "4, 32, 4", "4, 64, 4", "4, 16, 16", "4, 32, 32", "4, 128, 64", "3, 2, 2", "3, 8, 2", "3, 12, 4", "4, 6, 3",
            "4, 10, 5", "2, 3, 4", "2, 10, 4", "2, 15, 4"})
    void shouldCertifyInterleavedPlansOfTheSizesPyTorchChecks(int virtualStages, int microbatches, int pipeline) {
        Plan plan = new InterleavedOneForwardOneBackward().plan(pipeline, virtualStages, microbatches);
        int edges = certify(plan, Purpose.TRAINING, 1).messagesPerEdge().size();
        assertEquals(2 * (pipeline * virtualStages - 1), edges);
    }

    @Test
    void shouldCountTheMessagesOfEachEdge() {
        Plan lowered = Lowering.lower(new OneForwardOneBackward().plan(3, 1, 5));
        Certificate certificate = PlanValidator.certify(lowered, Purpose.TRAINING, 2);
        Map<String, Integer> messages = new LinkedHashMap<>();
        certificate.messagesPerEdge().forEach((edge, count) -> messages.put(edge.toString(), count));
        assertEquals(Map.of("stage 0 (rank 0) to stage 1 (rank 1)", 5, "stage 1 (rank 1) to stage 2 (rank 2)", 5,
                "stage 1 (rank 1) to stage 0 (rank 0)", 5, "stage 2 (rank 2) to stage 1 (rank 1)", 5), messages);
        assertSame(lowered, certificate.plan());
        assertEquals(2, certificate.creditsPerEdge());
        assertThrows(UnsupportedOperationException.class, () -> certificate.messagesPerEdge().clear());
    }

    @Test
    void shouldCountNoMessagesBetweenStagesOfOneRank() {
        Plan zbv = Plan.fromCsv("zbv", Placement.V, PlanFiles.csv("zbv", 4, 2, 8));
        // Stages 0 1 2 3 | 4 5 6 7 make seven neighbours; 3 and 4 share rank 3. Two directions each.
        assertEquals(2 * 6, certify(zbv, Purpose.TRAINING, 1).messagesPerEdge().size());
    }

    @Test
    void shouldRefuseToWorkWithoutCredits() {
        Plan lowered = Lowering.lower(new GPipe().plan(2, 1, 2));
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(lowered, Purpose.TRAINING, 0));
        assertEquals("A plan needs 1 credit or more on each edge, but has 0.", refusal.getMessage());
    }

    private static Certificate certify(Plan plan, Purpose purpose, int creditsPerEdge) {
        PlanValidator.check(plan, purpose);
        return PlanValidator.certify(Lowering.lower(plan), purpose, creditsPerEdge);
    }

    private static List<Integer> numbers(String text) {
        return Stream.of(text.split(" ")).map(Integer::valueOf).toList();
    }

    private interface Sizes {
        void accept(int pipeline, int virtualStages, int microbatches);
    }

    private static void forEachSize(int mostVirtualStages, Sizes sizes) {
        for (int pipeline = 1; pipeline <= LARGEST_PIPELINE; pipeline++) {
            for (int virtualStages = 1; virtualStages <= mostVirtualStages; virtualStages++) {
                for (int microbatches = 1; microbatches <= MOST_MICROBATCHES; microbatches++) {
                    sizes.accept(pipeline, virtualStages, microbatches);
                }
            }
        }
    }
}
