package dev.troupe.schedule.simulator;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.IntFunction;

/**
 * The actions of a plan by number, in an order in which each comes after those that it waits for, and marks on some of
 * them. Marks are taken off in this order.
 */
final class MarkedOrder {
    private static final int NONE = -1;

    private final IntFunction<int[]> successors;
    private final int[] order;
    private final int[] index;
    private final long[] marked;
    private int firstMarked;

    /** @param successors returns the actions that wait for one */
    MarkedOrder(int count, IntFunction<int[]> successors) {
        this.successors = successors;
        this.order = new int[count];
        this.index = new int[count];
        this.marked = new long[(count + 63) / 64]; // rounded up
        Arrays.setAll(order, number -> number);
        Arrays.setAll(index, number -> number);
    }

    /** Sorts all actions, none of which may be marked; those that could be in any order by their key. */
    void sort(long[] keys) {
        put(0, sorted(order.clone(), keys));
    }

    private void put(int begin, int[] some) {
        for (int at = begin; at < begin + some.length; at++) {
            order[at] = some[at - begin];
            index[order[at]] = at;
        }
    }

    /**
     * Sorts the part of the order between the first and the last of some actions, the successors of which have changed. None
     * may be marked.
     *
     * @return whether there is such an order; if not, nothing has changed
     */
    boolean repair(int[] some, long[] keys) {
        int begin = Arrays.stream(some).map(number -> index[number]).min().orElseThrow();
        int end = Arrays.stream(some).map(number -> index[number]).max().orElseThrow();
        int[] repaired = sorted(Arrays.copyOfRange(order, begin, end + 1), keys);
        if (repaired != null) {
            put(begin, repaired);
        }
        return repaired != null;
    }

    void mark(int number) {
        int at = index[number];
        marked[at >> 6] |= 1L << at;
        firstMarked = Math.min(firstMarked, at >> 6);
    }

    /** Returns the first marked action, without its mark from now on; -1 if there is none. */
    int nextMarked() {
        while (firstMarked < marked.length && marked[firstMarked] == 0) {
            firstMarked++;
        }
        if (firstMarked == marked.length) {
            return NONE;
        }
        int at = (firstMarked << 6) + Long.numberOfTrailingZeros(marked[firstMarked]);
        marked[firstMarked] &= marked[firstMarked] - 1;
        return order[at];
    }

    /**
     * Returns these actions in an order in which each comes after all that it waits for, of several the one with
     * the smallest key first; null if there is none.
     */
    private int[] sorted(int[] some, long[] keys) {
        Map<Integer, Integer> waits = new HashMap<>();
        for (int number : some) {
            waits.put(number, 0);
        }
        for (int number : some) {
            int[] after = successors.apply(number);
            for (int each : after) {
                waits.computeIfPresent(each, (_, left) -> left + 1);
            }
        }
        PriorityQueue<Integer> ready = new PriorityQueue<>(
                (one, other) -> keys[one] != keys[other] ? Long.compare(keys[one], keys[other]) : one - other);
        waits.forEach((number, left) -> {
            if (left == 0) {
                ready.add(number);
            }
        });
        int[] sorted = new int[some.length];
        int count = 0;
        while (!ready.isEmpty()) {
            int number = ready.remove();
            sorted[count++] = number;
            for (int each : successors.apply(number)) {
                Integer left = waits.computeIfPresent(each, (_, before) -> before - 1);
                if (left != null && left == 0) {
                    ready.add(each);
                }
            }
        }
        return count == some.length ? sorted : null;
    }
}
