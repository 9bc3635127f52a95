package dev.troupe.run;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
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

    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();

    /** Adds an action; times are of {@link System#nanoTime}. */
    public void add(long step, int rank, Action action, long startNanos, long endNanos) {
        entries.add(new Entry(step, rank, action, startNanos, endNanos));
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
