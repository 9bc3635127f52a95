package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The pass that removes the communication from a plan that has it, such as PyTorch's plans. First it checks that the
 * communication agrees with {@link AddTransfers} and the passes for groups: the same messages, each between the maker and
 * the user of its tensor, weights gathered when they are read, and gradients summed after the last.
 *
 * <pre>
 *          0F0 0SEND_F0 0RECV_B0 0B0              0F0          0B0
 *          1RECV_F0 1F0 1B0 1SEND_B0      =>          1F0 1B0
 * </pre>
 */
public record RemoveTransfers() implements LoweringPass {
    private static final Set<Kind> OF_GROUPS = EnumSet.of(Kind.UNSHARD, Kind.RESHARD, Kind.REDUCE_GRAD);

    /**
     * Returns the plan with computing only; the same plan if it has no communication.
     * @throws PlanException with the line, if the plan has other work, or its communication does not agree
     */
    @Override
    public Plan apply(Plan plan) {
        if (plan.onlyComputes()) {
            return plan;
        }
        Set<Place> overlaps = new HashSet<>();
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            rows.add(computing(plan, rank, overlaps));
        }
        Plan computing = plan.withRows(rows, overlaps);
        Plan lowered = new AddTransfers().apply(computing);
        boolean hasMessages = plan.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind().isTransfer());
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            new Check(plan, rank).run(lowered, hasMessages);
        }
        return computing;
    }

    private static List<Action> computing(Plan plan, int rank, Set<Place> overlaps) {
        List<Action> row = plan.rows().get(rank);
        List<Action> kept = new ArrayList<>();
        for (int position = 0; position < row.size(); position++) {
            Action action = row.get(position);
            if (plan.overlaps().contains(new Place(rank, position))) {
                overlaps.add(new Place(rank, kept.size()));
            }
            if (action.kind().isCompute()) {
                kept.add(action);
            } else if (!action.kind().isTransfer() && !OF_GROUPS.contains(action.kind())) {
                throw refusal(plan, rank, action + " is added by every run itself: take it out of the file");
            }
        }
        return kept;
    }

    private static PlanException refusal(Plan plan, int rank, String sentence) {
        return new PlanException("Plan \"" + plan.name() + "\", line " + (rank + 1) + ": " + sentence + ".");
    }

    /** The communication of one rank. */
    private static final class Check {
        private final Plan plan;
        private final int rank;
        private final List<Action> row;
        private final Map<Action, Integer> positions = new HashMap<>();

        Check(Plan plan, int rank) {
            this.plan = plan;
            this.rank = rank;
            this.row = plan.rows().get(rank);
            for (int position = 0; position < row.size(); position++) {
                Action action = row.get(position).work();
                if (positions.put(action, position) != null && !OF_GROUPS.contains(action.kind())) {
                    throw refusal(plan, rank, action + " occurs twice: take one out");
                }
            }
        }

        /** Checks the row; a plan without any message is accepted, since the run adds them. */
        void run(Plan lowered, boolean hasMessages) {
            if (hasMessages) {
                requireMessages(lowered.rows().get(rank));
            }
            row.stream().filter(action -> action.kind().isTransfer()).forEach(this::requireOrder);
            requireGroups();
        }

        private void requireMessages(List<Action> lowered) {
            Set<Action> expected = new HashSet<>(lowered);
            row.stream().filter(action -> action.kind().isTransfer() && !expected.contains(action)).findFirst()
                    .ifPresent(extra -> {
                        throw refusal(plan, rank, extra + " is no message between two ranks of this plan: take it out,"
                                + " or all sends and receives, which every run adds itself");
                    });
            lowered.stream().filter(action -> action.kind().isTransfer() && !positions.containsKey(action)).findFirst()
                    .ifPresent(missing -> {
                        throw refusal(plan, rank, missing + " is missing: write it, or take out all sends and receives,"
                                + " which every run adds itself");
                    });
        }

        private void requireOrder(Action message) {
            boolean isForward = message.kind() == Kind.SEND_F || message.kind() == Kind.RECV_F;
            Action full = message.as(isForward ? Kind.FORWARD : Kind.FULL_BACKWARD);
            Action work = positions.containsKey(full) ? full : message.as(Kind.BACKWARD_INPUT);
            boolean isAfter = positions.get(message) > positions.getOrDefault(work, -1);
            if (isAfter != message.kind().isSend()) {
                throw refusal(plan, rank, message + " must be " + (message.kind().isSend()
                        ? "after " + work + ", which makes what it sends"
                        : "before " + work + ", which needs what it receives"));
            }
        }

        private void requireGroups() {
            Set<Integer> sharded = new HashSet<>();
            Set<Integer> reduced = new HashSet<>();
            Set<Integer> seen = new HashSet<>();
            for (Action action : row) {
                int stage = action.stage();
                switch (action.kind()) {
                    case UNSHARD -> sharded.remove(stage);
                    case RESHARD -> sharded.add(stage);
                    case REDUCE_GRAD -> reduced.add(stage);
                    default -> requireThere(action, sharded.contains(stage)
                            || !seen.contains(stage) && positions.getOrDefault(new Action(stage, Kind.UNSHARD),
                                    -1) > positions.get(action.work()),
                            reduced.contains(stage));
                }
                if (OF_GROUPS.contains(action.kind())) {
                    seen.add(stage);
                }
            }
        }

        private void requireThere(Action action, boolean isSharded, boolean isReduced) {
            if (action.kind().isCompute() && isSharded) {
                throw refusal(plan, rank, action + " reads weights that no " + action.stage() + "UNSHARD before it has"
                        + " gathered: move one there, or take out all of them, which every run adds itself");
            }
            if (action.kind().freesActivation() && isReduced) {
                throw refusal(plan, rank, action + " adds to a gradient after " + action.stage() + "REDUCE_GRAD: move"
                        + " that after it, or take it out, which every run adds itself");
            }
        }
    }
}
