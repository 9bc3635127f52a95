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
 * time. While one is done, the next may be ordered already if its inputs are present: the rank then goes from one to the
 * other without asking.
 *
 * <p>The receive of an activation or a gradient is done as soon as its tensor has landed, since the action that follows
 * takes the tensor; a send waits until the actions ordered before it are done. All other actions are done by a stage.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class RowWalk {
    /** The action in progress and the next one. More would gain nothing and make it harder to see whether a rank hangs. */
    private static final int MOST_ORDERED = 2;

    private final List<Action> row;
    private final RankRow certified;
    private final boolean keepsActivations;
    // The first entry of the row that is neither done nor ordered.
    private int position;
    // The number when all ordered actions are done.
    private int liveActivations;
    // The number of steps with decided updates, and of steps with all norms done.
    private int decided;
    private int measured;
    // By step, the norms still to do.
    private final Map<Integer, Integer> normsLeft = new HashMap<>();
    // In the order of the row; the first is in progress.
    private final Deque<Action> ordered = new ArrayDeque<>();
    private final Set<Action> landed = new LinkedHashSet<>();
    // The completed receives, in order: the same message is not used twice.
    private final Set<Action> received = new LinkedHashSet<>();

    /**
     * Begins at the row's first action.
     *
     * @param keepsActivations whether forwards keep activations for backwards
     */
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
     * Takes the next action that can start: one for a stage, which later reports {@link #ended}, or a send of an activation
     * or a gradient. Empty if the walk waits or is over.
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

    /** Takes the sends of activations and gradients that follow at once: they go when the action taken last is done. */
    public List<Action> takeSends() {
        int first = position;
        while (position < row.size() && row.get(position).kind().isTransfer() && row.get(position).kind().isSend()) {
            position++;
        }
        return row.subList(first, position);
    }

    /** Returns whether an action is the first in progress, so that it can end. */
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

    /** Takes note that the tensor of a receive has landed; false if it is of no use, since it came before. */
    public boolean landed(Action receive) {
        return !isOver() && !received.contains(receive) && landed.add(receive);
    }

    /** Returns whether the walk waits only for a decision: everything that it follows from is done. */
    public boolean awaitsDecision() {
        return position < row.size() && awaitsDecision(row.get(position)) && ordered.isEmpty();
    }

    /** Returns the number of the row's steps, from the first, that the rank has measured completely. */
    public int measuredSteps() {
        return awaitsDecision() ? Math.max(measured, stepOf(row.get(position)) + 1) : measured;
    }

    /** Takes note of the decision of the next step. */
    public void decided() {
        decided++;
    }

    /** Returns the number of the row's steps with a decided update. */
    public int decidedSteps() {
        return decided;
    }

    /**
     * Enters an epoch, in which messages in flight to this rank do not arrive any more. Returns the receives that have
     * landed and are not used yet: they go back and are sent again, in order, so that a message that was lost before them
     * finds a buffer.
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

    /** Returns the receives that have landed and are not used yet. */
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

    /** Returns the index of the action in progress or waited for; the length of the row at its end. */
    public int position() {
        return ordered.isEmpty() ? position : row.indexOf(ordered.getFirst());
    }

    /** Returns the action in progress or waited for, in words for a person. */
    public String situation() {
        if (!ordered.isEmpty()) {
            return "computing " + ordered.getFirst();
        }
        return awaitsDecision()
                ? "waiting for the coordinator to allow the update"
                : "waiting for " + (isOver() ? "the next pass" : row.get(position));
    }
}
