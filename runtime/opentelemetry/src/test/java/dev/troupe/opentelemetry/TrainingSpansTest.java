package dev.troupe.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.look.observe.Observation;
import dev.troupe.opentelemetry.TrainingSpans.Detail;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.IdleTime;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.rank.idle.Usual;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunNews;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class TrainingSpansTest {
    private static final long MILLI = 1_000_000;

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(
                    SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build())
            .build();

    @AfterEach
    void close() {
        telemetry.close();
    }

    /** Rank 0 computes for 10 ms, its message takes 4 ms, rank 1 computes for 10 ms, and so back. */
    private static MeasuredStep step(long begin) {
        Plan plan = Plan.fromCsv("by hand", Laps.LOOP, "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
        List<RankTimes> ranks = List.of(
                rank(0, begin, new long[]{1, 0, 0, 42}, new long[]{10, 0, 0, 52}, new long[]{0, 10, 38, 0}),
                rank(1, begin, new long[]{0, 14, 24, 0}, new long[]{0, 24, 34, 0}, new long[]{14, 0, 0, 34}));
        StepTimes times = new StepTimes(7, StepTimes.Rows.of(plan, 1, 1), ranks, List.of("a", "b"), 0, Cause.COMMIT);
        return new MeasuredStep(times, IdleTime.of(times, Usual.UNKNOWN), Usual.UNKNOWN);
    }

    private static RankTimes rank(int rank, long begin, long[] starts, long[] ends, long[] moved) {
        for (long[] instants : List.of(starts, ends, moved)) {
            for (int position = 0; position < instants.length; position++) {
                instants[position] *= MILLI;
            }
        }
        return new RankTimes(rank, 3, begin, starts, ends, moved, new long[4], new long[4], new long[4], new long[4],
                new long[]{64, 64, 64, 64}, List.of());
    }

    private Map<String, SpanData> spans(Detail detail) {
        try (Observation observation = TrainingSpans.to(telemetry, detail)
                .observe(new RunFacts("mine", "1f1b", 0, 9, 640, List.of()))) {
            observation.on(
                    new RunNews.StepDone(new StepResult(7, 2.5, 1.5, 0.25, 1, false, Traffic.NONE), 0.06));
            observation.on(new RunNews.Measured(step(System.nanoTime())));
            observation.on(
                    new RunNews.Recovered(new Recovery(4, 8, List.of(1), "rank 1 failed", 1_000, 1_500, 2_000)));
        }
        return exporter.getFinishedSpanItems().stream().collect(Collectors.toMap(
                span -> span.getName().equals("troupe.rank")
                        ? "rank " + span.getAttributes().get(RunSpans.RANK)
                        : span.getName(),
                Function.identity()));
    }

    @Test
    void shouldHaveATraceOfEachStepWithTheActionsOfItsRanks() {
        Map<String, SpanData> spans = spans(Detail.ACTION);
        SpanData step = spans.get("troupe.step");
        assertEquals(2.5, step.getAttributes().get(RunSpans.LOSS));
        assertEquals("mine", step.getAttributes().get(RunSpans.RUN));
        assertEquals(52 * MILLI, step.getEndEpochNanos() - step.getStartEpochNanos());
        assertTrue(Math.abs(step.getStartEpochNanos() / MILLI - System.currentTimeMillis()) < 60_000);
        SpanData rank = spans.get("rank 1");
        assertEquals(step.getSpanId(), rank.getParentSpanId());
        assertEquals("b", rank.getAttributes().get(RunSpans.NODE));
        assertEquals(0.01, rank.getAttributes().asMap().entrySet().stream()
                .filter(entry -> entry.getKey().getKey().equals("troupe.actions.f")).map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow());
        double idle = rank.getAttributes().asMap().entrySet().stream()
                .filter(entry -> entry.getKey().getKey().startsWith("troupe.idle."))
                .mapToDouble(entry -> (Double) entry.getValue()).sum();
        assertEquals(0.032, idle, 1e-9);
        SpanData forward = spans.get("1F0");
        assertEquals(rank.getSpanId(), forward.getParentSpanId());
        assertEquals(List.of(spans.get("0F0").getSpanId()),
                forward.getLinks().stream().map(LinkData::getSpanContext).map(of -> of.getSpanId()).toList());
        assertEquals(64L, forward.getAttributes().get(RunSpans.BYTES));
        assertEquals(14 * MILLI, forward.getStartEpochNanos() - step.getStartEpochNanos());
        assertEquals(spans.get("1B0").getSpanContext(), spans.get("0B0").getLinks().getFirst().getSpanContext());
        SpanData recovery = spans.get("troupe.recovery");
        assertEquals(1_000 * MILLI, recovery.getEndEpochNanos() - recovery.getStartEpochNanos());
        assertEquals(List.of(1L), recovery.getAttributes().get(RunSpans.RANKS));
        assertEquals(8, spans.size());
    }

    @Test
    void shouldHaveFewerSpansAtALowerLevel() {
        assertEquals(List.of("troupe.recovery", "troupe.step"),
                spans(Detail.STEP).keySet().stream().sorted().toList());
        exporter.reset();
        assertEquals(List.of("rank 0", "rank 1", "troupe.recovery", "troupe.step"),
                spans(Detail.RANK).keySet().stream().sorted().toList());
    }
}
