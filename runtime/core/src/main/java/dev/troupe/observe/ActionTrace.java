package dev.troupe.observe;

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
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/**
 * The actions of this JVM's ranks with their times, in all training steps or in the newest ones.
 *
 * <p>Thread rule: any thread adds; read it when the run is over.
 */
public final class ActionTrace {
    private record Entry(long step, int rank, Action action, long startNanos, long endNanos) {
    }

    private record Landing(long step, Action receive, long nanos) {
    }

    /** The most actions of the newest steps that a run keeps, some 10 MB. */
    private static final int MOST_ACTIONS = 100_000;
    private static final int MOST_STEPS = 10;

    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final Queue<Landing> landings = new ConcurrentLinkedQueue<>();
    private final long keptSteps;
    private final boolean keepsLandings;
    private volatile long newestStep = -1;

    private ActionTrace(long keptSteps, boolean keepsLandings) {
        this.keptSteps = keptSteps;
        this.keepsLandings = keepsLandings;
    }

    /** Returns a trace of all steps, with the landings of their messages: for an experiment of a few steps. */
    public static ActionTrace ofAllSteps() {
        return new ActionTrace(Long.MAX_VALUE, true);
    }

    /** Returns a trace that records nothing. */
    public static ActionTrace ofNone() {
        return new ActionTrace(0, false);
    }

    /**
     * Returns a trace of the newest steps, at most ten and at most a hundred thousand actions; of none where one step
     * has more.
     *
     * @param plan
     *            of the run
     */
    public static ActionTrace ofTheNewestSteps(Plan plan) {
        long actions = plan.rows().stream().mapToLong(List::size).sum();
        return new ActionTrace(Math.min(MOST_STEPS, MOST_ACTIONS / Math.max(1, actions)), false);
    }

    /** Adds an action with times of {@link System#nanoTime}. */
    public void add(long step, int rank, Action action, long startNanos, long endNanos) {
        if (keptSteps == 0) {
            return;
        }
        if (step != newestStep) {
            turnTo(step);
        }
        entries.add(new Entry(step, rank, action, startNanos, endNanos));
    }

    /** Forgets steps that are no longer among the newest, or that the run repeats. */
    private synchronized void turnTo(long step) {
        if (step < newestStep) {
            entries.removeIf(entry -> entry.step() >= step);
        }
        newestStep = step;
        Entry oldest;
        while ((oldest = entries.peek()) != null && step - oldest.step() >= keptSteps) {
            entries.poll();
        }
    }

    /** Adds the landing of the tensor of a receive; times as above. */
    public void addLanded(long step, Action receive, long nanos) {
        if (keepsLandings) {
            landings.add(new Landing(step, receive, nanos));
        }
    }

    /**
     * Returns control times: for each action of a step whose rank had nothing else to do when its tensor landed, the
     * time from the landing to the start of its computing, in nanoseconds, ascending.
     */
    public List<Long> controlNanos(long step) {
        Map<Action, Long> landed = new HashMap<>();
        landings.stream().filter(landing -> landing.step() == step)
                .forEach(landing -> landed.put(landing.receive(), landing.nanos()));
        Map<Integer, Long> freeSince = new HashMap<>();
        List<Long> costs = new ArrayList<>();
        entries.stream().filter(entry -> entry.step() == step).sorted(Comparator.comparingLong(Entry::startNanos))
                .forEach(entry -> {
                    Long landing = inputOf(entry.action()).map(landed::get).orElse(null);
                    if (landing != null && landing > freeSince.getOrDefault(entry.rank(), Long.MIN_VALUE)) {
                        costs.add(entry.startNanos() - landing);
                    }
                    freeSince.put(entry.rank(), entry.endNanos());
                });
        return costs.stream().sorted().toList();
    }

    private static Optional<Action> inputOf(Action action) {
        if (action.kind() == Kind.FORWARD) {
            return Optional.of(action.as(Kind.RECV_F));
        }
        return action.kind().makesInputGradient() ? Optional.of(action.as(Kind.RECV_B)) : Optional.empty();
    }

    /** Returns one step as a timeline that begins with its first action. */
    public Timeline timeline(String title, Plan plan, long step) {
        return timeline(title, plan, step, firstStartNanos(entries.stream().filter(entry -> entry.step() == step)));
    }

    /**
     * Returns the recorded steps, oldest first, each as a timeline under its number; all times count from the first action.
     */
    public List<Timeline> timelines(Plan plan) {
        long origin = firstStartNanos(entries.stream());
        return entries.stream().map(Entry::step).distinct().sorted()
                .map(step -> timeline("step " + step, plan, step, origin)).toList();
    }

    private static long firstStartNanos(Stream<Entry> entries) {
        return entries.mapToLong(Entry::startNanos).min().orElse(0);
    }

    private Timeline timeline(String title, Plan plan, long step, long origin) {
        List<Entry> ofStep = entries.stream().filter(entry -> entry.step() == step).toList();
        return new Timeline(title, plan.rankCount(), plan.stageCount(),
                ofStep.stream().map(entry -> new Span(entry.rank(),
                        entry.action(), entry.startNanos() - origin, entry.endNanos() - origin)).toList());
    }
}
