package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The actions of a plan by number, and which of them wait for which: the next action of a row, the action that needs an
 * output, and the two actions of a pair. Rows may change; inputs and pairs stay. One thread at a time.
 */
final class ActionLinks {
    /** The number of no action. */
    static final int NONE = -1;

    private final Plan plan;
    private final Action[] actions;
    /** By rank, the actions of its row by number. */
    private final int[][] rows;
    private final int[] rank;
    private final int[] position;
    private final List<List<Integer>> ofStage = new ArrayList<>();
    /** By action, the action that makes its input, and the one that needs its output. */
    private final int[] maker;
    private final int[] user;
    /** By action, the second of its pair, or the first. */
    private final int[] second;
    private final int[] first;

    ActionLinks(Plan plan) {
        this.plan = plan;
        int count = plan.rows().stream().mapToInt(List::size).sum();
        this.actions = new Action[count];
        this.rows = new int[plan.rankCount()][];
        this.rank = new int[count];
        this.position = new int[count];
        this.maker = filled(count);
        this.user = filled(count);
        this.second = filled(count);
        this.first = filled(count);
        number();
        connect();
    }

    private static int[] filled(int count) {
        int[] all = new int[count];
        Arrays.fill(all, NONE);
        return all;
    }

    private void number() {
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            ofStage.add(new ArrayList<>());
        }
        int number = 0;
        for (int row = 0; row < rows.length; row++) {
            rows[row] = new int[plan.length(row)];
            for (int at = 0; at < rows[row].length; at++) {
                Action action = plan.action(row, at);
                rows[row][at] = number;
                actions[number] = action;
                rank[number] = row;
                position[number] = at;
                ofStage.get(action.stage()).add(number);
                if (plan.overlaps().contains(new Place(row, at))) {
                    second[number] = number + 1;
                    first[number + 1] = number;
                }
                number++;
            }
        }
    }

    private void connect() {
        Map<Action, Integer> makers = new HashMap<>();
        for (int number = 0; number < actions.length; number++) {
            Action action = actions[number];
            if (action.kind() == Kind.FORWARD || action.kind().makesInputGradient()) {
                makers.put(action.as(kind(number)), number);
            }
        }
        for (int number : makers.values()) {
            Action action = actions[number];
            int from = isForward(number)
                    ? plan.graph().source(Flow.ACTIVATIONS, action.stage())
                    : plan.graph().target(Flow.ACTIVATIONS, action.stage());
            if (from != StageGraph.NONE) {
                maker[number] = makers.get(new Action(from, kind(number), action.microbatch()));
                user[maker[number]] = number;
            }
        }
    }

    private Kind kind(int number) {
        return isForward(number) ? Kind.FORWARD : Kind.BACKWARD_INPUT;
    }

    boolean isForward(int number) {
        return actions[number].kind() == Kind.FORWARD;
    }

    int count() {
        return actions.length;
    }

    Action action(int number) {
        return actions[number];
    }

    /** Returns the numbers of a row's actions in order; not to be changed. */
    int[] row(int ofRank) {
        return rows[ofRank];
    }

    int rank(int number) {
        return rank[number];
    }

    int position(int number) {
        return position[number];
    }

    List<Integer> ofStage(int stage) {
        return ofStage.get(stage);
    }

    int maker(int number) {
        return maker[number];
    }

    int user(int number) {
        return user[number];
    }

    int second(int number) {
        return second[number];
    }

    int first(int number) {
        return first[number];
    }

    /** Returns the actions that wait for one: the next of its row, and those that need what it publishes. */
    int[] successors(int number) {
        int[] found = new int[5];
        int count = 0;
        int[] row = rows[rank[number]];
        if (position[number] + 1 < row.length) {
            found[count++] = row[position[number] + 1];
        }
        for (int each = number; second[number] == NONE && each != NONE; each = first[each]) {
            count = addUser(each, found, count);
        }
        return Arrays.copyOf(found, count);
    }

    private int addUser(int number, int[] found, int count) {
        int next = count;
        for (int needs = user[number]; needs != NONE; needs = first[needs]) { // a pair begins with both inputs present
            found[next++] = needs;
        }
        return next;
    }

    /** Moves an action within its row. */
    void rotate(int row, int from, int to) {
        int moved = rows[row][from];
        int step = from < to ? 1 : -1;
        for (int at = from; at != to; at += step) {
            rows[row][at] = rows[row][at + step];
            position[rows[row][at]] = at;
        }
        rows[row][to] = moved;
        position[moved] = to;
    }
}
