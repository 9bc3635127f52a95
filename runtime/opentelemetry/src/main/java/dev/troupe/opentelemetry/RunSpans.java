package dev.troupe.opentelemetry;

import dev.troupe.look.observe.Observation;
import dev.troupe.opentelemetry.TrainingSpans.Detail;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.Message;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunNews;
import dev.troupe.schedule.Action;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;

/** The spans of one run. Times in attributes are seconds. Thread rule: as of an {@link Observation}. */
final class RunSpans implements Observation {
    static final AttributeKey<String> RUN = AttributeKey.stringKey("troupe.run.name");
    static final AttributeKey<String> PLAN = AttributeKey.stringKey("troupe.plan");
    static final AttributeKey<Long> STEP = AttributeKey.longKey("troupe.step");
    static final AttributeKey<List<String>> TAGS = AttributeKey.stringArrayKey("troupe.step.tags");
    static final AttributeKey<Double> LOSS = AttributeKey.doubleKey("troupe.training.loss");
    static final AttributeKey<Double> NORM = AttributeKey.doubleKey("troupe.training.gradient_norm");
    static final AttributeKey<Double> RATE = AttributeKey.doubleKey("troupe.training.learning_rate");
    static final AttributeKey<Long> EPOCH = AttributeKey.longKey("troupe.epoch");
    static final AttributeKey<Long> RANK = AttributeKey.longKey("troupe.rank");
    static final AttributeKey<String> NODE = AttributeKey.stringKey("troupe.node");
    static final AttributeKey<Long> STAGE = AttributeKey.longKey("troupe.stage");
    static final AttributeKey<String> KIND = AttributeKey.stringKey("troupe.action.kind");
    static final AttributeKey<Long> MICROBATCH = AttributeKey.longKey("troupe.microbatch");
    static final AttributeKey<Long> BYTES = AttributeKey.longKey("troupe.message.bytes");
    static final AttributeKey<List<Long>> RANKS = AttributeKey.longArrayKey("troupe.ranks");
    static final AttributeKey<String> REASON = AttributeKey.stringKey("troupe.recovery.reason");

    /** An action of a rank, by its position in the rank's row. */
    private record Done(int rank, int position, long startNanos, long endNanos) {
    }

    private final Tracer tracer;
    private final Detail detail;
    private final RunFacts run;
    /** The offset from {@link System#nanoTime} to nanoseconds since 1970. */
    private final long sinceEpoch = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
    /** The results of steps that are not measured yet. */
    private final ConcurrentNavigableMap<Long, StepResult> results = new ConcurrentSkipListMap<>();

    RunSpans(Tracer tracer, Detail detail, RunFacts run) {
        this.tracer = tracer;
        this.detail = detail;
        this.run = run;
    }

    @Override
    public void on(RunNews news) {
        switch (news) {
            case RunNews.StepDone(StepResult result, _) -> results.put(result.step(), result);
            case RunNews.Measured(MeasuredStep step) -> add(step);
            case RunNews.Recovered(Recovery recovery) -> add(recovery);
            default -> {
                // no span
            }
        }
    }

    private void add(MeasuredStep step) {
        StepTimes times = step.times();
        Span span = begin("troupe.step", Context.root(), times.fromNanos()).setAttribute(RUN, run.name())
                .setAttribute(PLAN, run.plan()).setAttribute(STEP, step.number()).setAttribute(TAGS, step.tags())
                .startSpan();
        StepResult result = results.get(step.number());
        if (result != null) {
            span.setAttribute(LOSS, result.loss()).setAttribute(NORM, result.gradientNorm()).setAttribute(RATE,
                    result.learningRate());
        }
        results.headMap(step.number(), true).clear();
        setIdle(span, step.idle().byCause());
        if (detail != Detail.STEP) {
            addRanks(step, Context.root().with(span));
        }
        end(span, times.endNanos());
    }

    private void addRanks(MeasuredStep step, Context parent) {
        StepTimes times = step.times();
        List<Span> ranks = new ArrayList<>();
        for (RankTimes rank : times.ranks()) {
            Span span = begin("troupe.rank", parent, rank.beginNanos()).setAttribute(RANK, rank.rank())
                    .setAttribute(NODE, times.nodes().get(rank.rank())).setAttribute(EPOCH, rank.epoch()).startSpan();
            setIdle(span, step.idle().byCause(rank.rank()));
            setComputed(span, times.rows().row(rank.rank()), rank);
            ranks.add(span);
        }
        if (detail == Detail.ACTION) {
            addActions(times, ranks);
        }
        ranks.forEach(span -> end(span, times.endNanos()));
    }

    private static void setIdle(Span span, Map<Cause, Long> idle) {
        idle.forEach((cause, nanos) -> span.setAttribute("troupe.idle." + cause.code(), nanos / 1e9));
    }

    private static void setComputed(Span span, List<Action> row, RankTimes rank) {
        NavigableMap<String, Long> nanos = new TreeMap<>();
        for (int position = 0; position < row.size(); position++) {
            if (rank.ends()[position] != 0) {
                nanos.merge(row.get(position).kind().code().toLowerCase(Locale.ROOT),
                        rank.ends()[position] - rank.starts()[position], Long::sum);
            }
        }
        nanos.forEach((kind, sum) -> span.setAttribute("troupe.actions." + kind, sum / 1e9));
    }

    /**
     * Adds the spans in the order of their starts, so that the span of a message's sender precedes the span of its user.
     */
    private void addActions(StepTimes times, List<Span> ranks) {
        Map<List<Integer>, Message> inputs = new HashMap<>();
        for (Message message : Message.all(times)) {
            inputs.put(List.of(message.receiver(), message.user(times)), message);
        }
        Map<List<Integer>, SpanContext> makers = new HashMap<>();
        for (Done done : byStart(times)) {
            Action action = times.rows().row(done.rank()).get(done.position());
            SpanBuilder span = begin(action.toString(), Context.root().with(ranks.get(done.rank())), done.startNanos())
                    .setAttribute(KIND, action.kind().code()).setAttribute(STAGE, action.stage());
            if (action.kind().isPerMicrobatch()) {
                span.setAttribute(MICROBATCH, action.microbatch());
            }
            Message input = inputs.get(List.of(done.rank(), done.position()));
            if (input != null) {
                span.setAttribute(BYTES, input.bytes());
                SpanContext maker = makers.get(List.of(input.sender(), input.maker()));
                if (maker != null) { // clocks of two machines may differ by more than a message takes
                    span.addLink(maker);
                }
            }
            Span begun = span.startSpan();
            makers.put(List.of(done.rank(), done.position()), begun.getSpanContext());
            end(begun, done.endNanos());
        }
    }

    private static List<Done> byStart(StepTimes times) {
        List<Done> all = new ArrayList<>();
        for (RankTimes rank : times.ranks()) {
            for (int position = 0; position < rank.ends().length; position++) {
                if (rank.ends()[position] != 0) {
                    all.add(new Done(rank.rank(), position, rank.startNanos(position), rank.endNanos(position)));
                }
            }
        }
        all.sort(Comparator.comparingLong(Done::startNanos));
        return all;
    }

    private void add(Recovery recovery) {
        tracer.spanBuilder("troupe.recovery").setNoParent()
                .setStartTimestamp(recovery.detectedAtMillis(), TimeUnit.MILLISECONDS).setAttribute(RUN, run.name())
                .setAttribute(STEP, recovery.step()).setAttribute(EPOCH, (long) recovery.epoch())
                .setAttribute(RANKS, recovery.ranks().stream().map(Integer::longValue).toList())
                .setAttribute(REASON, recovery.reason()).startSpan()
                .end(recovery.caughtUpAtMillis(), TimeUnit.MILLISECONDS);
    }

    private SpanBuilder begin(String name, Context parent, long nanos) {
        return tracer.spanBuilder(name).setParent(parent).setStartTimestamp(nanos + sinceEpoch, TimeUnit.NANOSECONDS);
    }

    private void end(Span span, long nanos) {
        span.end(nanos + sinceEpoch, TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        results.clear();
    }
}
