package dev.troupe.protocol.watch;

import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The detector of slow stages. Each stage is compared with its own best time, since stages differ, and with the time
 * predicted from its operation count, since a stage may be slow from its first step.
 *
 * <p>The rule. For each kind of action the shortest time in a step counts, so occasional other work on the core has no
 * effect. A stage's <em>level</em> is the second shortest of these times over the last {@value #WINDOW} steps, so a few bad
 * steps have no effect. A stage is a straggler if, at {@value #LOOKS} steps in a row, a kind's level
 * <ul>
 * <li>is {@value #SLOW} times the lowest level it ever had, and {@value #STANDS_OUT} times as much above it as the median of
 * the stages of other ranks: a machine that is slower as a whole slows them all; or
 * <li>is {@value #SLOW} times the time predicted from its operation count at the rate of the median of the stages of other
 * ranks;
 * </ul> and the difference is a tenth of the stage's time for a microbatch. The straggler ends when the median over these
 * steps is below {@value #FINE} times. If most stages are {@value #SLOW} times above their best, one notice names them all.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds.
 */
public final class StragglerWatch {
    /** Steps in which the JVM still compiles. */
    static final int SETTLING = 3;
    static final int WINDOW = 5;
    static final int LOOKS = 3;
    static final double SLOW = 2;
    static final double STANDS_OUT = 2;
    static final double FINE = 1.5;
    /** The relative change of a straggler's factor from which it is reported again. */
    private static final double NEWS = 1.5;
    private static final double LEAST_SHARE = 0.1;
    private static final List<Kind> COMPUTED = List.of(Kind.FORWARD, Kind.FULL_BACKWARD, Kind.BACKWARD_INPUT,
            Kind.BACKWARD_WEIGHT);

    /** The predicted computing time of a stage, relative to other stages. */
    @FunctionalInterface
    public interface Expectation {
        /** Returns the time of an action of a kind, in a unit common to all stages; 0 if it is unknown. */
        double of(int stage, Kind kind);
    }

    private record Key(int rank, int stage) {
    }

    /** The times of one kind of action of a stage on a rank. */
    private static final class Series {
        private final long[] window = new long[WINDOW];
        private int count;
        private double level;
        private double median;
        private double best = Double.POSITIVE_INFINITY;

        void add(long nanos) {
            window[count++ % WINDOW] = nanos;
            if (count >= WINDOW) {
                long[] sorted = window.clone();
                Arrays.sort(sorted);
                level = sorted[1];
                median = sorted[WINDOW / 2];
                best = Math.min(best, level);
            }
        }

        boolean isKnown() {
            return count >= WINDOW;
        }
    }

    /** The slowness of a stage, and its kinds of action. */
    private record Finding(boolean isAgainstBest, List<Kind> kinds, double times, double nowNanos, double fineNanos) {
    }

    private static final class Unit {
        private final Key key;
        private final Map<Kind, Series> kinds = new EnumMap<>(Kind.class);
        private final Series total = new Series();
        private int looks;
        private Optional<Finding> reported = Optional.empty();

        Unit(Key key) {
            this.key = key;
        }

        double aboveBest() {
            return total.best > 0 ? total.level / total.best : 1;
        }
    }

    private final Expectation expectation;
    private final Supplier<Optional<MachineLoad>> load;
    private final Map<Key, Unit> units = new TreeMap<>(Comparator.comparingInt(Key::rank).thenComparingInt(Key::stage));
    private List<String> hosts = List.of();
    private int steps;
    private int wideLooks;
    private boolean reportedWide;
    private List<Notice> news = new ArrayList<>();

    /**
     * Creates a watch from the first step of a run, or of a new coordinator.
     *
     * @param load the current load of the coordinator's machine; empty if it is unknown
     */
    public StragglerWatch(Expectation expectation, Supplier<Optional<MachineLoad>> load) {
        this.expectation = expectation;
        this.load = load;
    }

    /**
     * Records a committed step in which nothing was repeated.
     *
     * @param times the computing times of each rank; a rank without times is skipped
     * @return the notices, mostly none
     */
    public List<Notice> onStep(long stepsDone, int epoch, List<String> nodes, Map<Integer, List<StageTime>> times) {
        news = new ArrayList<>();
        moveTo(nodes, stepsDone, epoch);
        if (++steps <= SETTLING) {
            return news;
        }
        times.forEach((rank, stages) -> stages.forEach(time -> add(rank, time)));
        List<Unit> known = units.values().stream().filter(unit -> unit.total.isKnown()).toList();
        for (Unit unit : known) {
            look(unit, known, stepsDone, epoch);
        }
        lookAtAll(known, stepsDone, epoch);
        return news;
    }

    /** Drops the best times of ranks that are on another node, or next to other ranks, than before. */
    private void moveTo(List<String> nodes, long stepsDone, int epoch) {
        List<String> before = hosts;
        hosts = List.copyOf(nodes);
        if (before.isEmpty() || before.equals(hosts)) {
            return;
        }
        for (int rank = 0; rank < hosts.size(); rank++) {
            if (!ranksOf(before, before.get(rank)).equals(ranksOf(hosts, hosts.get(rank)))) {
                int moved = rank;
                units.values().stream().filter(unit -> unit.key.rank() == moved && unit.reported.isPresent())
                        .forEach(unit -> report(Notice.Kind.STRAGGLER_ENDED, unit, 1, stepsDone, epoch,
                                " is measured again, since the ranks of its node have changed"));
                units.keySet().removeIf(key -> key.rank() == moved);
            }
        }
    }

    private static List<Integer> ranksOf(List<String> nodes, String node) {
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < nodes.size(); rank++) {
            if (nodes.get(rank).equals(node)) {
                ranks.add(rank);
            }
        }
        return ranks;
    }

    private void add(int rank, StageTime time) {
        Unit unit = units.computeIfAbsent(new Key(rank, time.stage()), Unit::new);
        long total = 0;
        for (Kind kind : COMPUTED) {
            if (time.nanos(kind) > 0) {
                unit.kinds.computeIfAbsent(kind, _ -> new Series()).add(time.nanos(kind));
                total += time.nanos(kind);
            }
        }
        unit.total.add(total);
    }

    private void look(Unit unit, List<Unit> known, long stepsDone, int epoch) {
        List<Unit> others = known.stream().filter(other -> other.key.rank() != unit.key.rank()).toList();
        if (others.isEmpty()) {
            return; // a rank alone is the machine
        }
        Optional<Finding> slow = finding(unit, others);
        boolean isNews = unit.reported.isEmpty()
                ? slow.isPresent()
                : differs(unit.reported.get(), unit, others);
        unit.looks = isNews ? unit.looks + 1 : 0;
        if (unit.looks < LOOKS) {
            return;
        }
        unit.looks = 0;
        if (slow.isPresent()) {
            reportLoad(stepsDone, epoch);
            report(unit.reported.isEmpty() ? Notice.Kind.STRAGGLER : Notice.Kind.STRAGGLER_CHANGED, unit,
                    slow.get().times(),
                    stepsDone, epoch, describe(slow.get()));
        } else {
            report(Notice.Kind.STRAGGLER_ENDED, unit, 1, stepsDone, epoch, " is no straggler any more");
        }
        unit.reported = slow;
    }

    /** Reports an overloaded machine first, since a stage may be slow on it by chance. */
    private void reportLoad(long stepsDone, int epoch) {
        load.get().filter(now -> now.isOverloaded(hosts.size()))
                .ifPresent(now -> news.add(new Notice(Notice.Kind.OVERLOADED, stepsDone, epoch, "", List.of(),
                        List.of(), (double) now.runnable() / now.cores(), now.inWords()
                                + ", so the stage that is named next may be slow by chance")));
    }

    /** Compares with the stage's own best first, and then with the other stages. */
    private Optional<Finding> finding(Unit unit, List<Unit> others) {
        double othersAboveBest = median(others, Unit::aboveBest);
        List<Kind> slower = kindsOf(unit).filter(kind -> {
            Series series = unit.kinds.get(kind);
            double times = series.level / series.best;
            return times >= SLOW && times >= STANDS_OUT * othersAboveBest
                    && series.level - series.best >= LEAST_SHARE * unit.total.best;
        }).toList();
        if (!slower.isEmpty()) {
            return Optional.of(againstBest(unit, slower));
        }
        List<Kind> slow = kindsOf(unit).filter(kind -> {
            double level = unit.kinds.get(kind).level;
            double expected = expected(unit, kind, others);
            return expected > 0 && level >= SLOW * expected && level - expected >= LEAST_SHARE * unit.total.level;
        }).toList();
        return slow.isEmpty() ? Optional.empty() : Optional.of(comparedWithOthers(unit, slow, others));
    }

    private static Finding againstBest(Unit unit, List<Kind> kinds) {
        double now = now(unit, kinds);
        double best = kinds.stream().mapToDouble(kind -> unit.kinds.get(kind).best).sum();
        return new Finding(true, kinds, now / best, now, best);
    }

    private Finding comparedWithOthers(Unit unit, List<Kind> kinds, List<Unit> others) {
        double now = now(unit, kinds);
        double expected = kinds.stream().mapToDouble(kind -> expected(unit, kind, others)).sum();
        return new Finding(false, kinds, now / expected, now, expected);
    }

    private static double now(Unit unit, List<Kind> kinds) {
        return kinds.stream().mapToDouble(kind -> unit.kinds.get(kind).median).sum();
    }

    private static Stream<Kind> kindsOf(Unit unit) {
        return COMPUTED.stream().filter(kind -> unit.kinds.containsKey(kind) && unit.kinds.get(kind).isKnown());
    }

    /** Returns the time of a kind of action at the rate of the other stages; 0 if it is unknown. */
    private double expected(Unit unit, Kind kind, List<Unit> others) {
        List<Unit> alike = others.stream().filter(other -> other.kinds.containsKey(kind)
                && other.kinds.get(kind).isKnown() && expectation.of(other.key.stage(), kind) > 0).toList();
        return alike.isEmpty()
                ? 0
                : expectation.of(unit.key.stage(), kind) * median(alike,
                        other -> other.kinds.get(kind).level / expectation.of(other.key.stage(), kind));
    }

    /** Returns whether the last report on a straggler is no longer true. */
    private boolean differs(Finding reported, Unit unit, List<Unit> others) {
        double times = (reported.isAgainstBest()
                ? againstBest(unit, reported.kinds())
                : comparedWithOthers(unit, reported.kinds(), others)).times();
        return times < FINE || times > NEWS * reported.times() || times * NEWS < reported.times();
    }

    /** Returns the median, for an even number of values the lower of the middle two. */
    private static double median(List<Unit> of, ToDoubleFunction<Unit> value) {
        return of.stream().mapToDouble(value).sorted().skip((of.size() - 1) / 2).findFirst().orElseThrow();
    }

    private void lookAtAll(List<Unit> known, long stepsDone, int epoch) {
        if (known.isEmpty()) {
            return;
        }
        double limit = reportedWide ? FINE : SLOW;
        List<Unit> above = known.stream().filter(unit -> unit.aboveBest() >= limit).toList();
        boolean isWide = 2 * above.size() > known.size() && above.stream().map(unit -> unit.key.rank()).distinct()
                .count() > 1;
        wideLooks = isWide == reportedWide ? 0 : wideLooks + 1;
        if (wideLooks < LOOKS) {
            return;
        }
        wideLooks = 0;
        reportedWide = isWide;
        double times = median(known, Unit::aboveBest);
        news.add(new Notice(isWide ? Notice.Kind.ALL_SLOWER : Notice.Kind.ALL_SLOWER_ENDED, stepsDone, epoch, "",
                List.of(), List.of(), times, isWide
                        ? String.format(Locale.ROOT, "%d of %d stages compute %.1f times as long as at their best or"
                                + " longer: the cause is not a stage, but a resource that they share", above.size(),
                                known.size(),
                                SLOW)
                        : "most stages compute again about as fast as at their best"));
    }

    private static String describe(Finding slow) {
        String kinds = slow.kinds().stream().map(Kind::code).collect(Collectors.joining(" and "));
        String time = slow.isAgainstBest()
                ? String.format(Locale.ROOT, "%.1f times as long as at its best", slow.times())
                : String.format(Locale.ROOT, "%.1f times the time predicted from the other stages", slow.times());
        return String.format(Locale.ROOT, " is a straggler: its %s %s %s, %s ms against %s ms", kinds,
                slow.kinds().size() == 1 ? "takes" : "take", time,
                millis(slow.nowNanos()), millis(slow.fineNanos()));
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, nanos < 1e7 ? "%.2f" : "%.0f", nanos / 1e6);
    }

    private void report(Notice.Kind kind, Unit unit, double times, long stepsDone, int epoch, String what) {
        int rank = unit.key.rank();
        news.add(new Notice(kind, stepsDone, epoch, hosts.get(rank), List.of(rank), List.of(unit.key.stage()), times,
                "stage " + unit.key.stage() + " (rank " + rank + ", node " + hosts.get(rank) + ")" + what));
    }
}
