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
 * One walk over a row: which action can start next. Actions are done in the order of the row, one at a time. While one is
 * done, the next may be ordered already if all it needs is there: the rank then goes from one to the other without asking.
 *
 * <p>The receive of an activation or a gradient is done as soon as its tensor has landed, since the action that follows
 * takes the tensor; a send of one needs what was ordered before it to be done. All else is done by a stage.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class RowWalk {
    /** The action that is done and one behind it. More would gain nothing and say less about if a rank stands. */
    private static final int MOST_ORDERED = 2;

    private final List<Action> row;
    private final RankRow certified;
    private final boolean keepsActivations;
    // The first entry of the row that is neither behind nor ordered.
    private int position;
    // As it will be when all that is ordered is done.
    private int liveActivations;
    // The number of steps whose updates are decided, and of those whose norms are behind.
    private int decided;
    private int measured;
    // By step, the norms that are to be done.
    private final Map<Integer, Integer> normsLeft = new HashMap<>();
    // In the order of the row; the first is in progress.
    private final Deque<Action> ordered = new ArrayDeque<>();
    private final Set<Action> landed = new LinkedHashSet<>();
    // The receives that are behind, in order: the same message is not used twice.
    private final Set<Action> received = new LinkedHashSet<>();

    /**
     * Begins at the row's first action.
     *
     * @param keepsActivations whether forwards keep something for backwards
     */
    public RowWalk(RankRow row, boolean keepsActivations) {
        this.row = row.actions();
        this.certified = row;
        this.keepsActivations = keepsActivations;
        row.actions().stream().filter(action -> action.kind() == Kind.NORM)
                .forEach(norm -> normsLeft.merge(stepOf(norm), 1, Integer::sum));
    }

    /** The step in the row of what is done once in a step. */
    private static int stepOf(Action ofWholeStep) {
        return Math.max(0, ofWholeStep.microbatch()); // a row of one step names none
    }

    /**
     * Takes the next action that can start: one for a stage, of which {@link #ended} is told, or a send of an activation or
     * a gradient. Empty if the walk waits or is over.
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

    /** Takes the sends of activations and gradients right behind: they go when the action taken last is done. */
    public List<Action> takeSends() {
        int first = position;
        while (position < row.size() && row.get(position).kind().isTransfer() && row.get(position).kind().isSend()) {
            position++;
        }
        return row.subList(first, position);
    }

    /** Whether an action is in progress first, so that it can end. */
    public boolean isDoing(Action action) {
        return action.equals(ordered.peekFirst());
    }

    /** The action that is being done has ended. */
    public void ended(Action action) {
        if (!isDoing(action)) {
            throw new IllegalStateException(action + " is not what is done, but " + ordered.peekFirst());
        }
        ordered.removeFirst();
        if (action.kind() == Kind.NORM && normsLeft.merge(stepOf(action), -1, Integer::sum) == 0) {
            measured = stepOf(action) + 1;
        }
    }

    /** The tensor of a receive is there; false if it is of no use, since it came before. */
    public boolean landed(Action receive) {
        return !isOver() && !received.contains(receive) && landed.add(receive);
    }

    /** Whether all that the decision follows from is done, and it is not there yet. */
    public boolean awaitsDecision() {
        return position < row.size() && awaitsDecision(row.get(position)) && ordered.isEmpty();
    }

    /** The number of the row's steps from the first of which the rank has measured all that a decision follows from. */
    public int measuredSteps() {
        return awaitsDecision() ? Math.max(measured, stepOf(row.get(position)) + 1) : measured;
    }

    /** The decision of the next step is there. */
    public void decided() {
        decided++;
    }

    /** The number of the row's steps of which it was decided how the weights are updated. */
    public int decidedSteps() {
        return decided;
    }

    /**
     * What is on its way to this rank does not come any more. Returns the receives whose tensors have landed and are not
     * used yet: they go back and are sent again, in order, so that a message that was lost before them finds a buffer.
     */
    public List<Action> enterEpoch() {
        List<Action> back = new ArrayList<>(landed);
        landed.clear();
        return back;
    }

    /** The receives that are behind, in order. */
    public List<Action> received() {
        return List.copyOf(received);
    }

    /** The receives whose tensors have landed and are not used yet. */
    public Set<Action> unused() {
        return FixedOrder.copyOf(landed);
    }

    /** Whether every action is done. */
    public boolean isOver() {
        return position == row.size() && ordered.isEmpty();
    }

    /** Whether a stage is at work. */
    public boolean isWorking() {
        return !ordered.isEmpty();
    }

    /** The index of the action in progress or waited for; the length of the row at its end. */
    public int position() {
        return ordered.isEmpty() ? position : row.indexOf(ordered.getFirst());
    }

    /** The action in progress or waited for, in words for a person. */
    public String situation() {
        if (!ordered.isEmpty()) {
            return "computing " + ordered.getFirst();
        }
        return awaitsDecision()
                ? "waiting for the coordinator to allow the update"
                : "waiting for " + (isOver() ? "the next pass" : row.get(position));
    }
}
