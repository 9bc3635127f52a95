package dev.troupe.schedule.timeline;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The times of a step, predicted or measured. Drawings take timelines, so that a prediction can be compared with a
 * measurement.
 *
 * @param title the name, such as {@code 1f1b, predicted}
 * @param rankCount number of ranks, P
 * @param stageCount number of stages, P x V exactly
 * @param spans the spans of all ranks, by rank and then by start; spans other than forwards and backwards are optional
 */
public record Timeline(String title, int rankCount, int stageCount, List<Span> spans) {
    private static final Comparator<Span> ORDER = Comparator.comparingInt(Span::rank)
            .thenComparingLong(Span::startNanos);

    public Timeline {
        for (Span span : spans) {
            if (span.rank() >= rankCount || span.action().stage() >= stageCount) {
                throw new IllegalArgumentException(
                        span.action() + " of rank " + span.rank() + " is not in a timeline of "
                                + rankCount + " ranks and " + stageCount + " stages");
            }
        }
        spans = spans.stream().sorted(ORDER).toList(); // stable: actions that take no time keep their order
    }

    /** Returns the forwards and backwards alone. */
    public Timeline computing() {
        return new Timeline(title, rankCount, stageCount,
                spans.stream().filter(span -> span.action().kind().isCompute()).toList());
    }

    public List<Span> spansOf(int rank) {
        return spans.stream().filter(span -> span.rank() == rank).toList();
    }

    public long endNanos() {
        return spans.stream().mapToLong(Span::endNanos).max().orElse(0);
    }

    /** Returns the time for which a rank computed forwards and backwards. */
    public long busyNanos(int rank) {
        return spans.stream().filter(span -> span.rank() == rank && span.action().kind().isCompute())
                .mapToLong(Span::nanos).sum();
    }

    /** Returns the idle time of all ranks over the time that they compute: {@code (P-1)/M} for GPipe. */
    public double bubbleOverIdeal() {
        long busy = busyNanos();
        return busy == 0 ? 0 : (double) (endNanos() * rankCount - busy) / busy;
    }

    /** Returns the idle time of all ranks over the time of the step: {@code (P-1)/(M+P-1)} for GPipe. */
    public double bubbleOverTotal() {
        long total = endNanos() * rankCount;
        return total == 0 ? 0 : (double) (total - busyNanos()) / total;
    }

    private long busyNanos() {
        long busy = 0;
        for (int rank = 0; rank < rankCount; rank++) {
            busy += busyNanos(rank);
        }
        return busy;
    }

    /** Returns every tensor that changed ranks, by the start of its user, rank by rank. */
    public List<Transfer> transfers() {
        Map<Action, Span> makers = new HashMap<>();
        for (Span span : spans) {
            Kind kind = span.action().kind();
            if (kind == Kind.FORWARD) {
                makers.put(span.action().work(), span);
            } else if (kind.makesInputGradient()) {
                makers.put(span.action().as(Kind.BACKWARD_INPUT).work(), span);
            }
        }
        List<Transfer> transfers = new ArrayList<>();
        for (Span user : spans) {
            Action action = user.action();
            Span maker = null;
            if (action.kind() == Kind.FORWARD && action.stage() > 0) {
                maker = makers.get(new Action(action.stage() - 1, Kind.FORWARD, action.microbatch()));
            } else if (action.kind().makesInputGradient()) {
                maker = makers.get(new Action(action.stage() + 1, Kind.BACKWARD_INPUT, action.microbatch()));
            }
            if (maker != null && maker.rank() != user.rank()) {
                transfers.add(new Transfer(maker, user));
            }
        }
        return transfers;
    }

    /**
     * Returns the most (stage, microbatch) activations that a rank held at one time, each from its F to the end of its B or
     * W.
     */
    public int peakActivations(int rank) {
        List<Change> changes = new ArrayList<>();
        for (Span span : spansOf(rank)) {
            if (span.action().kind() == Kind.FORWARD) {
                changes.add(new Change(span.startNanos(), 1));
            } else if (span.action().kind().freesActivation()) {
                changes.add(new Change(span.endNanos(), -1));
            }
        }
        return (int) peak(changes);
    }

    /**
     * Returns the largest amount in flight to one rank at one time; each tensor counts from the end of its maker to the
     * start of its user. The amount is by rank: a rank's queue follows from the plan, while the peaks of several ranks
     * coincide by chance.
     *
     * @param weight the weight of a tensor: its bytes, or 1 for a number of messages
     */
    public long peakInFlight(ToLongFunction<Transfer> weight) {
        Map<Integer, List<Change>> changes = new HashMap<>();
        for (Transfer transfer : transfers()) {
            List<Change> ofRank = changes.computeIfAbsent(transfer.user().rank(), unused -> new ArrayList<>());
            ofRank.add(new Change(transfer.maker().endNanos(), weight.applyAsLong(transfer)));
            ofRank.add(new Change(transfer.user().startNanos(), -weight.applyAsLong(transfer)));
        }
        return changes.values().stream().mapToLong(Timeline::peak).max().orElse(0);
    }

    private record Change(long nanos, long by) {
    }

    /** Returns the largest sum in flight; of changes at the same time, tensors are removed before others are added. */
    private static long peak(List<Change> changes) {
        changes.sort(Comparator.comparingLong(Change::nanos).thenComparingLong(Change::by));
        long sum = 0;
        long peak = 0;
        for (Change change : changes) {
            sum += change.by();
            peak = Math.max(peak, sum);
        }
        return peak;
    }
}
