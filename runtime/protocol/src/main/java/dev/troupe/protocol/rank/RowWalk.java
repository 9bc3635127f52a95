package dev.troupe.protocol.rank;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Resource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One walk over a row, which determines the next action that can start. Actions are done in the order of the row, one at a
 * time. The next action may be ordered while one is in progress, if its inputs are present, so that the rank continues
 * without a pause.
 *
 * <p>The receive of an activation or a gradient is done as soon as its tensor has landed, since the next action takes the
 * tensor. A send waits until the actions ordered before it are done. Stages do all other actions.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class RowWalk {
    /** The action in progress and the next one. More would gain nothing and would hide whether a rank hangs. */
    private static final int MOST_ORDERED = 2;

    private final List<Action> row;
    private final RankRow certified;
    private final boolean keepsActivations;
    // The first entry of the row that is not ordered or done.
    private int position;
    // The live activations after all ordered actions.
    private int liveActivations;
    // The numbers of steps with a decided update, and with all norms done.
    private int decided;
    private int measured;
    // The norms left to do, by step.
    private final Map<Integer, Integer> normsLeft = new HashMap<>();
    // The ordered actions, in the order of the row; the first is in progress.
    private final Deque<Action> ordered = new ArrayDeque<>();
    private final Set<Action> landed = new LinkedHashSet<>();
    // The completed receives, in order, so that no message is used twice.
    private final Set<Action> received = new LinkedHashSet<>();

    public RowWalk(RankRow row, boolean keepsActivations) {
        this.row = row.actions();
        this.certified = row;
        this.keepsActivations = keepsActivations;
        row.actions().stream().filter(action -> action.kind() == Kind.NORM)
                .forEach(norm -> normsLeft.merge(stepOf(norm), 1, Integer::sum));
    }

    private static int stepOf(Action ofWholeStep) {
        return Math.max(0, ofWholeStep.microbatch()); // a row of one step names none
    }

    /**
     * Returns the next action that can start and advances past it: an action of a stage, which later reports {@link #ended},
     * or a send of an activation or a gradient. Returns empty if the walk waits or is over.
     *
     * @throws IllegalStateException if the action would hold more activations than the plan is certified for
     */
    public Optional<Action> next() {
        while (position < row.size()) {
            Action action = row.get(position);
            if (!mayStart(action)) {
                return Optional.empty();
            }
            position++;
            if (awaitsMessage(action)) {
                landed.remove(action);
                received.add(action);
            }
            if (!action.kind().isTransfer()) {
                ordered.addLast(action);
            }
            if (!action.kind().isTransfer() || action.kind().isSend()) {
                return Optional.of(action);
            }
        }
        return Optional.empty();
    }

    private boolean mayStart(Action action) {
        if (awaitsMessage(action) && !landed.contains(action)) {
            return false;
        }
        if (action.kind().isTransfer()) {
            return action.kind().isReceive() || ordered.isEmpty(); // what it sends may not be computed yet
        }
        if (ordered.size() == MOST_ORDERED || awaitsDecision(action)) {
            return false;
        }
        countLive(action);
        return true;
    }

    private boolean awaitsDecision(Action action) {
        return action.kind().resource() == Resource.DECISION && stepOf(action) >= decided;
    }

    private boolean awaitsMessage(Action action) {
        return action.kind().isReceive() && !certified.local().contains(action);
    }

    private void countLive(Action action) {
        if (!keepsActivations) {
            return;
        }
        if (action.kind().freesActivation()) {
            liveActivations--;
        } else if (action.kind() == Kind.FORWARD) {
            liveActivations++;
        }
        if (liveActivations > certified.peakActivations()) {
            throw new IllegalStateException("would hold " + liveActivations + " live activations at " + action
                    + ", but its plan is certified for " + certified.peakActivations());
        }
    }

    /**
     * Takes the sends of activations and gradients that come next in the row; they are due when the last ordered action is
     * done.
     */
    public List<Action> takeSends() {
        int first = position;
        while (position < row.size() && row.get(position).kind().isTransfer() && row.get(position).kind().isSend()) {
            position++;
        }
        return row.subList(first, position);
    }

    public boolean isDoing(Action action) {
        return action.equals(ordered.peekFirst());
    }

    public void ended(Action action) {
        if (!isDoing(action)) {
            throw new IllegalStateException(action + " is not what is done, but " + ordered.peekFirst());
        }
        ordered.removeFirst();
        if (action.kind() == Kind.NORM && normsLeft.merge(stepOf(action), -1, Integer::sum) == 0) {
            measured = stepOf(action) + 1;
        }
    }

    /** Records an arrived message; returns false if it came before, so that it is not needed. */
    public boolean landed(Action receive) {
        return !isOver() && !received.contains(receive) && landed.add(receive);
    }

    /** Returns whether the walk waits for nothing but a decision. */
    public boolean awaitsDecision() {
        return position < row.size() && awaitsDecision(row.get(position)) && ordered.isEmpty();
    }

    /** Returns the number of steps of the row, from the first, that the rank has measured completely. */
    public int measuredSteps() {
        return awaitsDecision() ? Math.max(measured, stepOf(row.get(position)) + 1) : measured;
    }

    /** Records the decision on the next step. */
    public void decided() {
        decided++;
    }

    public int decidedSteps() {
        return decided;
    }

    /**
     * Enters an epoch, in which messages in flight to this rank are lost. Returns the receives that have landed and are
     * unused: they are discarded and sent again in order, so that a message that was lost before them finds a buffer.
     */
    public List<Action> enterEpoch() {
        List<Action> back = new ArrayList<>(landed);
        landed.clear();
        return back;
    }

    /** Returns the completed receives, in order. */
    public List<Action> received() {
        return List.copyOf(received);
    }

    /** Returns the receives that have landed and are unused. */
    public Set<Action> unused() {
        return FixedOrder.copyOf(landed);
    }

    /** Returns whether every action is done. */
    public boolean isOver() {
        return position == row.size() && ordered.isEmpty();
    }

    public boolean isWorking() {
        return !ordered.isEmpty();
    }

    /** Returns the index of the action in progress or awaited; the length of the row at its end. */
    public int position() {
        return ordered.isEmpty() ? position : row.indexOf(ordered.getFirst());
    }

    /** Returns the action in progress or awaited, in words. */
    public String situation() {
        if (!ordered.isEmpty()) {
            return "computing " + ordered.getFirst();
        }
        return awaitsDecision()
                ? "waiting for the coordinator to allow the update"
                : "waiting for " + (isOver() ? "the next pass" : row.get(position));
    }
}
