package dev.troupe.parallel;

import dev.troupe.engine.Shape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The part of a tensor that a rank holds: some ranges of indices along one dimension, and all indices of the others.
 * Elements are row-major. If ranks with the same indices divide them again, each has a range of these elements, regardless
 * of rows.
 *
 * @param ranges the indices held, ascending
 * @param elements the elements of those indices, counted from the first; empty for all
 */
public record TensorSlice(Shape whole, int dimension, List<IndexRange> ranges, Optional<IndexRange> elements) {
    private static final Pattern TEXT = Pattern
            .compile("(\\d+(?:x\\d+)*) (\\d+) (\\d+-\\d+(?:,\\d+-\\d+)*)(?: elements (\\d+)-(\\d+))?");

    public TensorSlice {
        ranges = List.copyOf(ranges);
        if (dimension < 0 || dimension >= whole.rank() || ranges.isEmpty()) {
            throw new IllegalArgumentException("a slice of " + whole + " needs one of its dimensions and a range, but"
                    + " found dimension " + dimension + " and " + ranges);
        }
        int next = 0;
        for (IndexRange range : ranges) {
            if (range.first() < next || range.end() > whole.size(dimension)) {
                throw new IllegalArgumentException("ranges of dimension " + dimension + " of " + whole
                        + " must ascend and end with it, but found " + ranges);
            }
            next = range.end();
        }
        long count = indexedShape(whole, dimension, ranges).elementCount();
        if (elements.isPresent() && elements.get().end() > count) {
            throw new IllegalArgumentException("the indices held of " + whole + " have " + count
                    + " elements, but found elements " + elements.get());
        }
    }

    /** Creates the slice of all elements of some indices. */
    public TensorSlice(Shape whole, int dimension, List<IndexRange> ranges) {
        this(whole, dimension, ranges, Optional.empty());
    }

    /** Returns a whole tensor, which every rank holds. */
    public static TensorSlice whole(Shape shape) {
        return whole(shape, 0);
    }

    /**
     * Returns a member's share of each of several consecutive pieces, such as the queries, keys and values of its heads.
     *
     * @param pieces the number of indices of each piece of the dimension; one piece for a share of the dimension itself
     * @throws IllegalArgumentException if a piece has fewer indices than there are members
     */
    public static TensorSlice share(Shape whole, int dimension, List<Integer> pieces, int member, int members) {
        List<IndexRange> ranges = new ArrayList<>();
        int first = 0;
        for (int piece : pieces) {
            IndexRange share = IndexRange.share(piece, member, members);
            ranges.add(new IndexRange(first + share.first(), first + share.end()));
            first += piece;
        }
        return new TensorSlice(whole, dimension, joined(ranges));
    }

    private static List<IndexRange> joined(List<IndexRange> ranges) {
        List<IndexRange> joined = new ArrayList<>();
        for (IndexRange range : ranges) {
            if (!joined.isEmpty() && joined.getLast().end() == range.first()) {
                joined.add(new IndexRange(joined.removeLast().first(), range.end()));
            } else {
                joined.add(range);
            }
        }
        return joined;
    }

    /**
     * Returns a range of this slice's elements.
     *
     * @param some counted from the first element of this slice, which has all of its indices' elements
     * @return this slice if it is all of them
     */
    public TensorSlice part(IndexRange some) {
        if (elements.isPresent()) {
            throw new IllegalStateException("a part of a slice is not cut again, but found one of " + text());
        }
        return some.first() == 0 && some.end() == shape().elementCount()
                ? this
                : new TensorSlice(whole, dimension, ranges, Optional.of(some));
    }

    /** Returns the shape of the rank's part; for a part of a slice its number of elements. */
    public Shape shape() {
        return elements.map(some -> Shape.of(some.size())).orElseGet(() -> indexedShape(whole, dimension, ranges));
    }

    private static Shape indexedShape(Shape whole, int dimension, List<IndexRange> ranges) {
        int[] sizes = whole.toArray();
        sizes[dimension] = ranges.stream().mapToInt(IndexRange::size).sum();
        return Shape.of(sizes);
    }

    public boolean isWhole() {
        return elements.isEmpty() && ranges.size() == 1 && ranges.getFirst().size() == whole.size(dimension);
    }

    /**
     * Copies the rank's part from the whole.
     * @param wholeElements the bytes of the whole tensor
     * @param sliceElements the bytes of {@link #shape}; overwritten
     */
    public void cut(MemorySegment wholeElements, MemorySegment sliceElements, int elementBytes) {
        forEachRun(elementBytes, (inWhole, inSlice, bytes) -> MemorySegment.copy(wholeElements, inWhole, sliceElements,
                inSlice, bytes));
    }

    /** Copies the rank's part to its places in the whole; the rest of the whole is unchanged. */
    public void paste(MemorySegment sliceElements, MemorySegment wholeElements, int elementBytes) {
        forEachRun(elementBytes, (inWhole, inSlice, bytes) -> MemorySegment.copy(sliceElements, inSlice, wholeElements,
                inWhole, bytes));
    }

    private interface Run {
        void copy(long inWhole, long inSlice, long bytes);
    }

    private void forEachRun(int elementBytes, Run run) {
        long outer = 1;
        long inner = elementBytes;
        for (int i = 0; i < whole.rank(); i++) {
            outer *= i < dimension ? whole.size(i) : 1;
            inner *= i > dimension ? whole.size(i) : 1;
        }
        long from = (long) elements.map(IndexRange::first).orElse(0) * elementBytes;
        long to = from + shape().elementCount() * elementBytes;
        long next = 0;
        for (long row = 0; row < outer && next < to; row++) {
            for (IndexRange range : ranges) {
                long first = Math.max(next, from);
                long end = Math.min(next + range.size() * inner, to);
                if (first < end) {
                    run.copy((row * whole.size(dimension) + range.first()) * inner + first - next, first - from,
                            end - first);
                }
                next += range.size() * inner;
            }
        }
    }

    /**
     * Requires that the slices of several ranks hold every element of a tensor once.
     *
     * @throws IllegalArgumentException with the elements that are missing or double, or the slice of another tensor
     */
    public static void requireWhole(List<TensorSlice> slices) {
        TensorSlice first = slices.getFirst();
        for (TensorSlice slice : slices) {
            if (!slice.whole.equals(first.whole) || slice.dimension != first.dimension) {
                throw new IllegalArgumentException(
                        "its slices must be of one tensor, cut along one dimension, but found "
                                + first.text() + " and " + slice.text());
            }
        }
        Map<List<IndexRange>, List<TensorSlice>> sameIndices = slices.stream()
                .collect(Collectors.groupingBy(TensorSlice::ranges));
        sameIndices.values().forEach(TensorSlice::requireEveryElement);
        List<IndexRange> held = joined(sameIndices.values().stream()
                .flatMap(some -> some.getFirst().elements.isPresent()
                        ? some.getFirst().ranges.stream()
                        : some.stream().flatMap(slice -> slice.ranges.stream()))
                .sorted(Comparator.comparingInt(IndexRange::first)).toList());
        if (!held.equals(whole(first.whole, first.dimension).ranges)) {
            throw new IllegalArgumentException("its slices must hold each of the " + first.whole.size(first.dimension)
                    + " indices of dimension " + first.dimension + " once, but found " + rangesText(held));
        }
    }

    /** Of slices with the same indices. */
    private static void requireEveryElement(List<TensorSlice> slices) {
        if (slices.stream().allMatch(slice -> slice.elements.isEmpty())) {
            return;
        }
        TensorSlice first = slices.getFirst();
        long count = indexedShape(first.whole, first.dimension, first.ranges).elementCount();
        List<IndexRange> held = joined(slices.stream()
                .map(slice -> slice.elements.orElse(new IndexRange(0, Math.toIntExact(count))))
                .sorted(Comparator.comparingInt(IndexRange::first)).toList());
        if (!held.equals(List.of(new IndexRange(0, Math.toIntExact(count))))) {
            throw new IllegalArgumentException("its slices must hold each of the " + count + " elements of "
                    + rangesText(first.ranges) + " once, but found " + rangesText(held));
        }
    }

    private static TensorSlice whole(Shape shape, int dimension) {
        if (dimension >= shape.rank()) {
            throw new IllegalArgumentException("a tensor of no dimensions has no slices");
        }
        return new TensorSlice(shape, dimension, List.of(new IndexRange(0, shape.size(dimension))));
    }

    /**
     * Returns the slice in one line, such as {@code 768x2304 1 0-384,768-1152,1536-1920}, followed by {@code elements
     * 0-442368} for a part; {@link #parse} reads it.
     */
    public String text() {
        return Arrays.stream(whole.toArray()).mapToObj(Integer::toString).collect(Collectors.joining("x")) + " "
                + dimension + " " + rangesText(ranges)
                + elements.map(some -> " elements " + rangesText(List.of(some))).orElse("");
    }

    private static String rangesText(List<IndexRange> ranges) {
        return ranges.stream().map(range -> range.first() + "-" + range.end()).collect(Collectors.joining(","));
    }

    /**
     * Reads a line of {@link #text}.
     *
     * @throws IllegalArgumentException if the text is no such line
     */
    public static TensorSlice parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("a slice is written as shape, dimension and ranges, such as"
                    + " 768x2304 1 0-384,768-1152, but found \"" + text + "\"");
        }
        int[] sizes = Arrays.stream(parts.group(1).split("x")).mapToInt(Integer::parseInt).toArray();
        List<IndexRange> ranges = Arrays.stream(parts.group(3).split(",")).map(range -> range.split("-"))
                .map(ends -> new IndexRange(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]))).toList();
        Optional<IndexRange> elements = parts.group(4) == null
                ? Optional.empty()
                : Optional.of(new IndexRange(Integer.parseInt(parts.group(4)), Integer.parseInt(parts.group(5))));
        return new TensorSlice(Shape.of(sizes), Integer.parseInt(parts.group(2)), ranges, elements);
    }
}
