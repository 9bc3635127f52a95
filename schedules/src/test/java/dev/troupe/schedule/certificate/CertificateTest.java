package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.PlanFiles;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.family.GPipe;
import dev.troupe.schedule.family.InterleavedOneForwardOneBackward;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void shouldCertifyEverySmallPlanOfEverySchedule() {
        int[] certified = new int[1];
        for (String name : Schedules.names()) {
            forEachSize(MOST_VIRTUAL_STAGES, (p, v, m) -> {
                if (isDefined(name, p, v, m)) {
                    certify(Schedules.named(name).plan(p, v, m), Purpose.TRAINING, 1);
                    certified[0]++;
                } else {
                    assertThrows(PlanException.class, () -> Schedules.named(name).plan(p, v, m));
                }
            });
        }
        // 96 pairs of P and M: 4 schedules of one stage, 1 of any V, 2 of any V in 75 pairs, 3 of V = 2, DualPipeV in 60.
        assertEquals(4 * 96 + 4 * 96 + 2 * 4 * 75 + 3 * 96 + 60, certified[0]);
    }

    private static boolean isDefined(String name, int pipeline, int virtualStages, int microbatches) {
        return switch (name) {
            case "gpipe", "1f1b", "zb-h1", "zb-h2" -> virtualStages == 1;
            case "interleaved-1f1b", "interleaved-zero-bubble" -> microbatches
                    % Math.max(1, microbatches / pipeline) == 0;
            case "zbv", "v-half", "v-min" -> virtualStages == 2;
            case "dualpipev" -> virtualStages == 2 && microbatches >= 2 * pipeline;
            case "looped-bfs" -> true;
            default -> throw new IllegalArgumentException("say for which sizes " + name + " is defined");
        };
    }

    @Test
    void shouldCertifyEverySmallForwardOnlyPlanWithOneCredit() {
        forEachSize(MOST_VIRTUAL_STAGES, (p, v, m) -> {
            for (Placement placement : Laps.values()) {
                Certificate certificate = certify(new ForwardOnly(placement).plan(p, v, m), Purpose.FORWARD_ONLY, 1);
                assertEquals(IntStream.range(0, p).mapToObj(rank -> 1).toList(), certificate.peakActivations());
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"gpipe, 1, 8 8 8 8", "1f1b, 1, 4 3 2 1", "interleaved-1f1b, 2, 11 9 7 5",
            "interleaved-1f1b, 4, 19 17 15 13", "looped-bfs, 2, 16 16 16 16", "interleaved-zero-bubble, 2, 8 8 8 8",
            "zb-h1, 1, 4 4 4 4", "zb-h2, 1, 7 7 7 7", "zbv, 2, 8 8 8 8", "dualpipev, 2, 9 9 9 9",
            "v-half, 2, 6 6 6 6", "v-min, 2, 4 4 4 4"})
    void shouldFindThePeaksOfThePapersOnFourRanks(String name, int virtualStages, String peaks) {
        Plan plan = Schedules.named(name).plan(4, virtualStages, 8);
        assertEquals(numbers(peaks), certify(plan, Purpose.TRAINING, 1).peakActivations());
    }

    /** Stages per rank, microbatches, ranks: the sizes that PyTorch checks its interleaved plans on. */
    @ParameterizedTest
    @CsvSource({"2, 2, 2", "2, 4, 4", "2, 8, 2", "2, 8, 4", "2, 8, 8", "4, 4, 4", "4, 8, 4", "4, 8, 8", "4, 16, 4",
            "4, 32, 4", "4, 64, 4", "4, 16, 16", "4, 32, 32", "4, 128, 64", "3, 2, 2", "3, 8, 2", "3, 12, 4", "4, 6, 3",
            "4, 10, 5", "2, 3, 4", "2, 10, 4", "2, 15, 4"})
    void shouldCertifyPlansOfTheSizesPyTorchChecks(int virtualStages, int microbatches, int pipeline) {
        for (String name : Schedules.names()) {
            if (isDefined(name, pipeline, virtualStages, microbatches)) {
                Plan plan = Schedules.named(name).plan(pipeline, virtualStages, microbatches);
                int edges = certify(plan, Purpose.TRAINING, 1).messagesPerEdge().size();
                int crossings = switch ((Laps) plan.placement()) {
                    case LOOP -> pipeline * virtualStages - 1;
                    case V -> 2 * (pipeline - 1);
                };
                assertEquals(2 * crossings, edges, name);
            }
        }
    }

    @Test
    void shouldCountTheMessagesOfEachEdge() {
        Plan lowered = new AddTransfers().apply(new OneForwardOneBackward().plan(3, 1, 5));
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
    void shouldBoundTheMessagesInFlightForAnyActionTimes() {
        Plan lowered = new AddTransfers().apply(new OneForwardOneBackward().plan(3, 1, 5));
        // Rank 0 can be three microbatches ahead of rank 1, and as many late; rank 1 two of rank 2.
        assertEquals(List.of(3, 3, 2, 2), inFlight(PlanValidator.certify(lowered, Purpose.TRAINING, 8)));
        assertEquals(List.of(2, 2, 2, 2), inFlight(PlanValidator.certify(lowered, Purpose.TRAINING, 2)));
        Plan gpipe = new AddTransfers().apply(new GPipe().plan(2, 1, 5));
        assertEquals(List.of(5, 5), inFlight(PlanValidator.certify(gpipe, Purpose.TRAINING, 8)));
    }

    private static List<Integer> inFlight(Certificate certificate) {
        assertEquals(certificate.messagesPerEdge().sequencedKeySet().stream().toList(),
                certificate.messagesInFlight().sequencedKeySet().stream().toList());
        return List.copyOf(certificate.messagesInFlight().values());
    }

    @Test
    void shouldSimulateThePlanUnderGivenCosts() {
        Plan lowered = new AddTransfers().apply(new OneForwardOneBackward().plan(4, 1, 8));
        Simulation simulation = PlanValidator.certify(lowered, Purpose.TRAINING, 4).under(Costs.units(4));
        assertEquals(33, simulation.makespanNanos());
        Place last = simulation.criticalPath().getLast();
        assertEquals(33, simulation.endNanos(last.rank(), last.position()));
    }

    @Test
    void shouldCountNoMessagesBetweenStagesOfOneRank() {
        Plan zbv = Plan.fromCsv("zbv", Laps.V, PlanFiles.csv("zbv", 4, 2, 8));
        // Stages 0 1 2 3 | 4 5 6 7 make seven neighbours; 3 and 4 share rank 3. Two directions each.
        assertEquals(2 * 6, certify(zbv, Purpose.TRAINING, 1).messagesPerEdge().size());
    }

    @Test
    void shouldRefuseToWorkWithoutCredits() {
        Plan lowered = new AddTransfers().apply(new GPipe().plan(2, 1, 2));
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(lowered, Purpose.TRAINING, 0));
        assertEquals("A plan needs 1 credit or more on each edge, but has 0.", refusal.getMessage());
    }

    private static Certificate certify(Plan plan, Purpose purpose, int creditsPerEdge) {
        PlanValidator.check(plan, purpose);
        return PlanValidator.certify(new AddTransfers().apply(plan), purpose, creditsPerEdge);
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
