package dev.troupe.metrics;

import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.Gap;
import dev.troupe.rank.idle.IdlePart;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.Message;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The meters of the ranks in measured steps: their computing, their idle times, and their messages.
 *
 * <p>Thread rule: the thread that attributes idle time to causes.
 */
final class StepMeters {
    private record Edge(int sender, int receiver) {
    }

    private record Hop(Timer landed, Counter bytes, Counter credit) {
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final Counter steps;
    // By rank, and then by the ordinal of the kind or cause; a meter is created at its first count.
    private final Counter[][] computed;
    private final Counter[][] idle;
    /** The edges seen so far, few of all pairs of ranks. */
    private final Map<Edge, Hop> hops = new HashMap<>();

    StepMeters(MeterRegistry registry, Tags tags, int ranks) {
        this.registry = registry;
        this.tags = tags;
        this.steps = Counter.builder("troupe.measured.steps")
                .description("Steps that troupe_compute, troupe_idle, troupe_hop and troupe_message count").tags(tags)
                .register(registry);
        this.computed = new Counter[ranks][Kind.values().length];
        this.idle = new Counter[ranks][Cause.values().length];
    }

    void add(MeasuredStep step) {
        steps.increment();
        List<RankTimes> ranks = step.times().ranks();
        long[][] inside = new long[ranks.size()][];
        for (RankTimes rank : ranks) {
            inside[rank.rank()] = new long[rank.ends().length];
        }
        for (Gap gap : step.idle().gaps()) {
            for (IdlePart part : gap.parts()) {
                idle(gap.rank(), part.cause()).increment(part.nanos() / 1e9);
            }
            if (gap.isInside()) {
                inside[gap.rank()][gap.position()] += gap.nanos();
            }
        }
        ranks.forEach(rank -> addComputed(rank, step.times().rows().row(rank.rank()), inside[rank.rank()]));
        for (Message message : Message.all(step.times())) {
            Hop hop = hop(message.sender(), message.receiver());
            hop.landed().record(Duration.ofNanos(message.landedNanos() - message.handedNanos()));
            hop.bytes().increment(message.bytes());
            hop.credit().increment(message.creditNanos() / 1e9);
        }
    }

    /** Adds computing times: the time of each action without the waits inside it, which are idle time. */
    private void addComputed(RankTimes rank, List<Action> row, long[] inside) {
        for (int position = 0; position < row.size(); position++) {
            if (rank.ends()[position] != 0) {
                long nanos = rank.ends()[position] - rank.starts()[position] - inside[position];
                computed(rank.rank(), row.get(position).kind()).increment(Math.max(0, nanos) / 1e9);
            }
        }
    }

    private Counter computed(int rank, Kind kind) {
        Counter[] ofRank = computed[rank];
        if (ofRank[kind.ordinal()] == null) {
            ofRank[kind.ordinal()] = counter("troupe.compute",
                    "Time in which a rank did actions of a kind, without waits inside them",
                    Tags.of("rank", String.valueOf(rank), "kind", kind.code()));
        }
        return ofRank[kind.ordinal()];
    }

    private Counter idle(int rank, Cause cause) {
        Counter[] ofRank = idle[rank];
        if (ofRank[cause.ordinal()] == null) {
            ofRank[cause.ordinal()] = counter("troupe.idle", "Time in which a rank was idle, by cause",
                    Tags.of("rank", String.valueOf(rank), "cause", cause.code()));
        }
        return ofRank[cause.ordinal()];
    }

    private Counter counter(String name, String description, Tags more) {
        return Counter.builder(name).description(description).baseUnit("seconds").tags(tags.and(more))
                .register(registry);
    }

    private Hop hop(int sender, int receiver) {
        return hops.computeIfAbsent(new Edge(sender, receiver), this::hop);
    }

    private Hop hop(Edge edge) {
        Tags between = tags.and("from", String.valueOf(edge.sender()), "to", String.valueOf(edge.receiver()));
        return new Hop(
                Timer.builder("troupe.hop")
                        .description("Time of messages from the transport of a rank to another rank").tags(between)
                        .register(registry),
                Counter.builder("troupe.message")
                        .description("Bytes of messages from a rank to another, without headers")
                        .baseUnit("bytes").tags(between).register(registry),
                Counter.builder("troupe.message.without.credit").description("Time for which messages had no credit")
                        .baseUnit("seconds").tags(between).register(registry));
    }
}
