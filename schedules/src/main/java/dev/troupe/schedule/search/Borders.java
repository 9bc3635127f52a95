package dev.troupe.schedule.search;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A partition of a row of units into contiguous stages, none of them empty.
 *
 * @param sizes the number of units of each stage, 1 or more
 */
public record Borders(List<Integer> sizes) {
    public Borders {
        sizes = List.copyOf(sizes);
        if (sizes.isEmpty() || Collections.min(sizes) < 1) {
            throw new IllegalArgumentException("each stage has 1 unit or more, but found " + sizes);
        }
    }

    /**
     * Returns stages of about equal size: the first ones have one unit more if the units do not divide.
     *
     * @throws IllegalArgumentException if there are fewer units than stages
     */
    public static Borders uniform(int units, int stages) {
        List<Integer> sizes = new ArrayList<>();
        for (int stage = 0; stage < stages; stage++) {
            sizes.add(units / stages + (stage < units % stages ? 1 : 0)); // rounded down, and the rest
        }
        return new Borders(sizes);
    }

    /** Returns the number of partitions of units into stages, at most the greatest long. */
    static long count(int units, int stages) {
        BigInteger count = BigInteger.ONE;
        for (int border = 1; border < stages; border++) { // a binomial coefficient: each division is exact
            count = count.multiply(BigInteger.valueOf(units - border)).divide(BigInteger.valueOf(border));
        }
        return count.min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
    }

    /** Returns all partitions of units into stages, those with a small first stage first, then a small second one ... */
    static List<Borders> all(int units, int stages) {
        List<Borders> all = new ArrayList<>();
        compose(units, stages, List.of(), all);
        return all;
    }

    private static void compose(int units, int stages, List<Integer> begun, List<Borders> all) {
        for (int size = stages == 1 ? units : 1; size <= units - stages + 1; size++) {
            List<Integer> sizes = new ArrayList<>(begun);
            sizes.add(size);
            if (stages == 1) {
                all.add(new Borders(sizes));
            } else {
                compose(units - size, stages - 1, sizes, all);
            }
        }
    }

    /** Returns the index of the first unit of a stage. */
    public int first(int stage) {
        return sizes.subList(0, stage).stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns whether one unit of a stage can go to another without leaving the stage empty. */
    boolean canGive(int from) {
        return sizes.get(from) > 1;
    }

    /** Returns the partition in which all borders between two stages are moved by one unit, from the one to the other. */
    Borders moved(int from, int to) {
        List<Integer> moved = new ArrayList<>(sizes);
        moved.set(from, moved.get(from) - 1);
        moved.set(to, moved.get(to) + 1);
        return new Borders(moved);
    }
}
