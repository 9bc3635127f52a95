package dev.troupe.protocol.watch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The watch over the time of a step after the loss of a node. It compares the median of the last {@value #MEASURED} steps
 * before the loss with the median of the first {@value #MEASURED} after it, and later reports when the time is back.
 *
 * <p>Thread rule: none; one caller at a time. Times are seconds.
 */
public final class PaceWatch {
    static final int MEASURED = 10;
    /** The fewest steps for a median. */
    private static final int FEWEST = 3;
    /** Steps in which the JVM still compiles. */
    private static final int SETTLING = 2;
    /** The factor of a step's time from which a run counts as slower. */
    private static final double SLOWER = 1.1;

    private final Deque<Double> latest = new ArrayDeque<>();
    private final List<Double> after = new ArrayList<>();
    private List<String> hosts;
    private long steps;
    // The median before the first loss since the run last had its full speed; 0 if it was not measured.
    private double before;
    private String loss = "";
    private Phase phase = Phase.STEADY;

    private enum Phase {
        STEADY, MEASURING, SLOWER
    }

    /**
     * @param hosts the first node of each rank
     * @param earlierSeconds the times of steps under an earlier coordinator, in order
     */
    public PaceWatch(List<String> hosts, List<Double> earlierSeconds) {
        this.hosts = List.copyOf(hosts);
        earlierSeconds.forEach(seconds -> onStep(0, 0, seconds, false));
    }

    /**
     * Records a committed step.
     *
     * @param isDisturbed whether part of the step was repeated
     */
    public Optional<Notice> onStep(long stepsDone, int epoch, double seconds, boolean isDisturbed) {
        if (isDisturbed || ++steps <= SETTLING) {
            return Optional.empty();
        }
        if (phase == Phase.MEASURING) {
            after.add(seconds);
            return after.size() < MEASURED ? Optional.empty() : Optional.of(measured(stepsDone, epoch));
        }
        latest.add(seconds);
        if (latest.size() > MEASURED) {
            latest.removeFirst();
        }
        if (phase == Phase.SLOWER && latest.size() == MEASURED && median(latest) < SLOWER * before) {
            phase = Phase.STEADY;
            return Optional.of(notice(Notice.Kind.PACE_ENDED, stepsDone, epoch, median(latest) / before,
                    "steps are as fast again as before the loss (" + loss + "): " + millis(median(latest)) + " ms"));
        }
        return Optional.empty();
    }

    /** Records that the ranks of a lost node have moved. */
    public void onMoved(List<String> nodes) {
        if (nodes.equals(hosts)) {
            return;
        }
        Map<String, List<Integer>> moved = new TreeMap<>();
        for (int rank = 0; rank < nodes.size(); rank++) {
            if (!nodes.get(rank).equals(hosts.get(rank))) {
                moved.computeIfAbsent(nodes.get(rank), _ -> new ArrayList<>()).add(rank);
            }
        }
        String where = moved.entrySet().stream().map(entry -> {
            List<Integer> there = ranksOf(nodes, entry.getKey());
            there.removeAll(entry.getValue());
            return named(entry.getValue())
                    + (there.isEmpty()
                            ? " now " + (entry.getValue().size() == 1 ? "lives" : "live") + " on node " + entry.getKey()
                            : " now " + (entry.getValue().size() == 1 ? "shares" : "share") + " node " + entry.getKey()
                                    + " with " + named(there));
        }).collect(Collectors.joining(", and "));
        hosts = List.copyOf(nodes);
        begin(where);
    }

    /** Reports the loss of a node without ranks. */
    public Notice onStandbyLost(long stepsDone, int epoch, String node, Collection<String> present) {
        boolean isAnotherThere = present.stream().anyMatch(other -> !hosts.contains(other));
        begin("standby node " + node + " is lost");
        return new Notice(Notice.Kind.STANDBY_LOST, stepsDone, epoch, node, List.of(), List.of(), 1,
                "standby node " + node + " is lost" + (isAnotherThere
                        ? ""
                        : "; there is no other standby, so the ranks of the next lost node will share a node, and steps"
                                + " will take longer"));
    }

    /** Reports a standby that has joined; empty if no node was lost before. */
    public Optional<Notice> onJoined(long stepsDone, int epoch, String node) {
        return loss.isEmpty() || hosts.contains(node)
                ? Optional.empty()
                : Optional.of(new Notice(Notice.Kind.STANDBY_BACK, stepsDone, epoch, node, List.of(), List.of(), 1,
                        "node " + node
                                + " is a standby: it takes over the ranks of the next node that is lost, and none"
                                + " before"));
    }

    /** Reports the measurements so far when the run ends. */
    public Optional<Notice> onEnd(long stepsDone, int epoch) {
        return phase == Phase.MEASURING && after.size() >= FEWEST
                ? Optional.of(measured(stepsDone, epoch))
                : Optional.empty();
    }

    private void begin(String what) {
        if (phase == Phase.STEADY) { // else it is still held against the steps before the first loss
            before = latest.size() < FEWEST ? 0 : median(latest);
        }
        loss = phase == Phase.STEADY || loss.isEmpty() ? what : loss + ", and " + what;
        phase = Phase.MEASURING;
        after.clear();
    }

    private Notice measured(long stepsDone, int epoch) {
        double now = median(after);
        latest.clear();
        latest.addAll(after);
        String steps = "median of " + after.size() + " steps: " + millis(now) + " ms";
        if (before == 0) {
            phase = Phase.STEADY;
            return notice(Notice.Kind.PACE_ENDED, stepsDone, epoch, 1, loss + "; the time of steps before the loss"
                    + " was not measured (" + steps + ")");
        }
        double times = now / before;
        phase = times < SLOWER ? Phase.STEADY : Phase.SLOWER;
        String ratio = String.format(Locale.ROOT, "steps take %.1f times as long as before the loss (%s, before it"
                + " %s ms)", times, steps, millis(before));
        return phase == Phase.SLOWER
                ? notice(Notice.Kind.PACE, stepsDone, epoch, times,
                        "the run continues more slowly: " + loss + "; " + ratio)
                : notice(Notice.Kind.PACE_ENDED, stepsDone, epoch, times,
                        "the run is as fast as before: " + loss + "; " + ratio);
    }

    private static Notice notice(Notice.Kind kind, long stepsDone, int epoch, double times, String sentence) {
        return new Notice(kind, stepsDone, epoch, "", List.of(), List.of(), times, sentence);
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

    private static String named(List<Integer> ranks) {
        int last = ranks.size() - 1;
        return ranks.size() == 1
                ? "rank " + ranks.getFirst()
                : "ranks " + ranks.subList(0, last).stream().map(String::valueOf).collect(Collectors.joining(", "))
                        + " and " + ranks.get(last);
    }

    /** Returns the median, for an even number of values the lower of the middle two. */
    private static double median(Collection<Double> seconds) {
        return seconds.stream().sorted().skip((seconds.size() - 1) / 2).findFirst().orElseThrow();
    }

    private static String millis(double seconds) {
        return String.format(Locale.ROOT, seconds < 0.01 ? "%.2f" : "%.0f", seconds * 1e3);
    }
}
