package dev.troupe.metrics;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.idle.Cause;
import dev.troupe.schedule.idle.Gap;
import dev.troupe.schedule.idle.MeasuredStep;
import dev.troupe.schedule.idle.Message;
import dev.troupe.schedule.idle.RankTimes;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The meters of what ranks did in measured steps: how long they computed and were idle, and their messages.
 *
 * <p>Thread rule: the thread that parts idle time by cause.
 */
final class StepMeters {
    private record RankAndWhat(int rank, Object what) {
    }

    private record Hop(Timer landed, Counter bytes, Counter credit) {
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final Counter steps;
    private final Map<RankAndWhat, Counter> computed = new HashMap<>();
    private final Map<RankAndWhat, Counter> idle = new HashMap<>();
    private final Map<List<Integer>, Hop> hops = new HashMap<>();

    StepMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        this.steps = Counter.builder("troupe.measured.steps")
                .description("Steps that troupe_compute, troupe_idle, troupe_hop and troupe_message count").tags(tags)
                .register(registry);
    }

    void add(MeasuredStep step) {
        steps.increment();
        for (RankTimes rank : step.times().ranks()) {
            addComputed(step, rank);
            step.idle().byCause(rank.rank()).forEach((cause, nanos) -> idle(rank.rank(), cause).increment(nanos / 1e9));
        }
        for (Message message : Message.all(step.times())) {
            Hop hop = hops.computeIfAbsent(List.of(message.sender(), message.receiver()), this::hop);
            hop.landed().record(Duration.ofNanos(message.landedNanos() - message.handedNanos()));
            hop.bytes().increment(message.bytes());
            hop.credit().increment(message.creditNanos() / 1e9);
        }
    }

    /** An action takes what it computes and what its rank waits inside it; the waits are idle time. */
    private void addComputed(MeasuredStep step, RankTimes rank) {
        List<Action> row = step.times().rows().row(rank.rank());
        long[] inside = new long[row.size()];
        for (Gap gap : step.idle().gaps()) {
            if (gap.rank() == rank.rank() && gap.isInside()) {
                inside[gap.position()] += gap.nanos();
            }
        }
        for (int position = 0; position < row.size(); position++) {
            if (rank.ends()[position] != 0) {
                long nanos = rank.ends()[position] - rank.starts()[position] - inside[position];
                computed(rank.rank(), row.get(position).kind()).increment(Math.max(0, nanos) / 1e9);
            }
        }
    }

    private Counter computed(int rank, Kind kind) {
        return computed.computeIfAbsent(new RankAndWhat(rank, kind),
                _ -> counter("troupe.compute", "Time in which a rank did actions of a kind, without waits inside them",
                        Tags.of("rank", String.valueOf(rank), "kind", kind.code())));
    }

    private Counter idle(int rank, Cause cause) {
        return idle.computeIfAbsent(new RankAndWhat(rank, cause), _ -> counter("troupe.idle",
                "Time in which a rank was idle, by cause",
                Tags.of("rank", String.valueOf(rank), "cause", cause.code())));
    }

    private Counter counter(String name, String description, Tags more) {
        return Counter.builder(name).description(description).baseUnit("seconds").tags(tags.and(more))
                .register(registry);
    }

    private Hop hop(List<Integer> ranks) {
        Tags edge = tags.and("from", String.valueOf(ranks.getFirst()), "to", String.valueOf(ranks.getLast()));
        return new Hop(
                Timer.builder("troupe.hop").description("Time of messages from the transport of a rank to another rank")
                        .tags(edge).register(registry),
                Counter.builder("troupe.message")
                        .description("Bytes of messages from a rank to another, without headers")
                        .baseUnit("bytes").tags(edge).register(registry),
                Counter.builder("troupe.message.without.credit").description("Time for which messages had no credit")
                        .baseUnit("seconds").tags(edge).register(registry));
    }
}
