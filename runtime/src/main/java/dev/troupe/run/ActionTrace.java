package dev.troupe.run;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the ranks of this JVM computed in its training steps, and when.
 *
 * <p>Thread rule: any thread adds; read it when the run is over.
 */
public final class ActionTrace {
    private record Entry(long step, int rank, Action action, long startNanos, long endNanos) {
    }

    private record Landing(long step, Action receive, long nanos) {
    }

    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final Queue<Landing> landings = new ConcurrentLinkedQueue<>();

    /** Adds an action; times are of {@link System#nanoTime}. */
    public void add(long step, int rank, Action action, long startNanos, long endNanos) {
        entries.add(new Entry(step, rank, action, startNanos, endNanos));
    }

    /** Adds that the tensor of a receive stands in its rank's memory; times as above. */
    public void addLanded(long step, Action receive, long nanos) {
        landings.add(new Landing(step, receive, nanos));
    }

    /**
     * What control costs: for each action of a step whose rank had nothing else to do when its tensor landed, the time from
     * there to the start of its computing, in nanoseconds, ascending.
     */
    public List<Long> controlNanos(long step) {
        Map<Action, Long> landed = new HashMap<>();
        landings.stream().filter(landing -> landing.step() == step)
                .forEach(landing -> landed.put(landing.receive(), landing.nanos()));
        Map<Integer, Long> freeSince = new HashMap<>();
        List<Long> costs = new ArrayList<>();
        entries.stream().filter(entry -> entry.step() == step).sorted(Comparator.comparingLong(Entry::startNanos))
                .forEach(entry -> {
                    Kind receive = entry.action().kind() == Kind.FORWARD ? Kind.RECV_F : Kind.RECV_B;
                    Long landing = landed.get(entry.action().as(receive));
                    if (landing != null && entry.action().kind() != Kind.BACKWARD_WEIGHT
                            && landing > freeSince.getOrDefault(entry.rank(), Long.MIN_VALUE)) {
                        costs.add(entry.startNanos() - landing);
                    }
                    freeSince.put(entry.rank(), entry.endNanos());
                });
        return costs.stream().sorted().toList();
    }

    /** One step as a timeline that begins with its first action. */
    public Timeline timeline(String title, Plan plan, long step) {
        List<Entry> ofStep = entries.stream().filter(entry -> entry.step() == step).toList();
        long origin = ofStep.stream().mapToLong(Entry::startNanos).min().orElse(0);
        return new Timeline(title, plan.rankCount(), plan.stageCount(),
                ofStep.stream().map(entry -> new Span(entry.rank(),
                        entry.action(), entry.startNanos() - origin, entry.endNanos() - origin)).toList());
    }
}
