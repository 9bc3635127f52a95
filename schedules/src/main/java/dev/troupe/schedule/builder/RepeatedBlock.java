package dev.troupe.schedule.builder;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.function.IntFunction;

/**
 * The builder of schedules that repeat one block, the work for one microbatch on all ranks, every six units of time. F, I
 * and W of the two stages of a rank fill the six. The time for which a block holds its activations determines the memory of
 * the schedule.
 *
 * <p>The block fixes the order of F and I on each rank. The rest is decided by these rules:
 * <ol>
 * <li>each rank does its next F or I as soon as its input is present, before its slot, which the papers call squeezing;
 * <li>if the input is missing, the rank does its oldest pending W, so that W fill the bubbles;
 * <li>an F that would take a rank beyond the memory of the repeated block waits for a W.
 * </ol>
 * No rank can deadlock: with each block in its slots every F fits into that memory.
 */
public final class RepeatedBlock {
    private static final int PERIOD = 6;

    /** The times at which a rank works on microbatch 0: forward there and back, input gradient back and there. */
    public record Slots(int forwardThere, int forwardBack, int inputBack, int inputThere) {
        private int[] all() {
            return new int[]{forwardThere, forwardBack, inputBack, inputThere};
        }
    }

    private final int pipeline;
    private final int microbatches;
    private final int memory;
    private final List<RankState> ranks = new ArrayList<>();
    private final int[][] forwardEnds;
    private final int[][] inputEnds;

    private RepeatedBlock(int pipeline, int microbatches, List<Slots> slots) {
        this.pipeline = pipeline;
        this.microbatches = microbatches;
        this.memory = slots.stream().mapToInt(RepeatedBlock::memoryOf).max().orElseThrow();
        for (int rank = 0; rank < pipeline; rank++) {
            ranks.add(new RankState(order(rank, slots.get(rank))));
        }
        this.forwardEnds = never(2 * pipeline, microbatches);
        this.inputEnds = never(2 * pipeline, microbatches);
    }

    public static Plan plan(String name, int pipeline, int microbatches, IntFunction<Slots> slotsOfRank) {
        List<Slots> slots = new ArrayList<>();
        for (int rank = 0; rank < pipeline; rank++) {
            slots.add(slotsOfRank.apply(rank));
        }
        RepeatedBlock block = new RepeatedBlock(pipeline, microbatches, slots);
        block.squeeze();
        return new Plan(name, pipeline, 2 * pipeline, microbatches, Laps.V,
                block.ranks.stream().map(rank -> rank.row).toList());
    }

    private static int[][] never(int stageCount, int microbatches) {
        int[][] ends = new int[stageCount][microbatches];
        for (int[] ofStage : ends) {
            Arrays.fill(ofStage, Integer.MAX_VALUE);
        }
        return ends;
    }

    private List<Action> order(int rank, Slots slots) {
        int there = rank;
        int back = 2 * pipeline - 1 - rank;
        record Timed(long time, Action action) {
        }
        List<Timed> all = new ArrayList<>();
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            long start = (long) PERIOD * microbatch;
            all.add(new Timed(start + slots.forwardThere(), new Action(there, Kind.FORWARD, microbatch)));
            all.add(new Timed(start + slots.forwardBack(), new Action(back, Kind.FORWARD, microbatch)));
            all.add(new Timed(start + slots.inputBack(), new Action(back, Kind.BACKWARD_INPUT, microbatch)));
            all.add(new Timed(start + slots.inputThere(), new Action(there, Kind.BACKWARD_INPUT, microbatch)));
        }
        all.sort(Comparator.comparingLong(Timed::time));
        return all.stream().map(Timed::action).toList();
    }

    /** Returns the most activations that a rank holds if blocks repeat forever and W use the free slots. */
    private static int memoryOf(Slots slots) {
        int[] starts = slots.all();
        int live = 0;
        int owed = 0;
        int most = 0;
        // Everything repeats two periods after the last slot of the first block.
        for (int time = 0; time < starts[3] + 2 * PERIOD; time++) {
            int now = time;
            int slot = 0;
            while (slot < starts.length && (now < starts[slot] || (now - starts[slot]) % PERIOD != 0)) {
                slot++;
            }
            if (slot < 2) {
                most = Math.max(most, ++live);
            } else if (slot < starts.length) {
                owed++;
            } else if (owed > 0) {
                owed--;
                live--;
            }
        }
        return most;
    }

    private void squeeze() {
        long left = 6L * pipeline * microbatches;
        for (int now = 0; left > 0; now++) {
            for (RankState rank : ranks) {
                left -= rank.act(now) ? 1 : 0;
            }
        }
    }

    /** Returns whether the input of an F or I is present at a time. */
    private boolean isReady(Action action, int now) {
        int stage = action.stage();
        int microbatch = action.microbatch();
        int lastStage = 2 * pipeline - 1;
        if (action.kind() == Kind.FORWARD) {
            return stage == 0 || forwardEnds[stage - 1][microbatch] <= now;
        }
        return stage == lastStage ? forwardEnds[stage][microbatch] <= now : inputEnds[stage + 1][microbatch] <= now;
    }

    private final class RankState {
        private final List<Action> order;
        private final List<Action> row = new ArrayList<>();
        private final Queue<Action> owed = new ArrayDeque<>();
        private int position;
        private int live;

        RankState(List<Action> order) {
            this.order = order;
        }

        /** Does one action in this unit of time; returns false if none is possible. */
        boolean act(int now) {
            if (position < order.size() && mayDo(order.get(position), now)) {
                compute(order.get(position++), now + 1);
                return true;
            }
            if (!owed.isEmpty()) {
                row.add(owed.remove());
                live--;
                return true;
            }
            return false;
        }

        private boolean mayDo(Action action, int now) {
            return isReady(action, now) && (action.kind() != Kind.FORWARD || live < memory);
        }

        private void compute(Action action, int end) {
            row.add(action);
            if (action.kind() == Kind.FORWARD) {
                live++;
                forwardEnds[action.stage()][action.microbatch()] = end;
            } else {
                owed.add(action.as(Kind.BACKWARD_WEIGHT));
                inputEnds[action.stage()][action.microbatch()] = end;
            }
        }
    }
}
