package dev.troupe.parallel;

/**
 * A range of indices of a dimension.
 *
 * @param end the one after the last
 */
public record IndexRange(int first, int end) {
    public IndexRange {
        if (first < 0 || end <= first) {
            throw new IllegalArgumentException(
                    "a range of indices must hold at least one, but found " + first + " to before " + end);
        }
    }

    /**
     * Returns one member's share of {@code count} indices: a range, with one more for the first members if the count is not
     * divisible.
     *
     * @throws IllegalArgumentException if there are fewer indices than members
     */
    public static IndexRange share(int count, int member, int members) {
        int each = count / members;
        int more = count % members;
        return new IndexRange(member * each + Math.min(member, more),
                (member + 1) * each + Math.min(member + 1, more));
    }

    public int size() {
        return end - first;
    }

    public boolean contains(int index) {
        return first <= index && index < end;
    }
}
