package dev.troupe.shard;

import dev.troupe.engine.Shape;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.IndexRange;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The layout of a flat buffer: the place of each parameter of a stage. A buffer is a sequence of {@link Bucket}s, often a
 * single one. A bucket has first the matrices of hidden layers, then other parameters that decay, then the rest, each in the
 * order of the layers. So an optimizer updates two ranges of a bucket: with decay and without. An optimizer that updates the
 * hidden matrices one by one has two ranges after them.
 *
 * <p>If ranks divide a buffer, each has the same number of consecutive elements of every bucket, regardless of parameters. A
 * rank's share is the sequence of its parts of all buckets.
 */
public final class BufferLayout {
    /**
     * The alignment of every parameter and every share of a bucket, in elements: whole vectors and cache lines, so that the
     * result of an element does not depend on the elements before it.
     */
    public static final int ALIGNMENT = 64;

    private final int shareCount;
    private final List<Bucket> buckets;
    private final Map<Parameter, Long> starts = new IdentityHashMap<>();
    private final Map<Parameter, Bucket> bucketOf = new IdentityHashMap<>();

    /**
     * A bucket: parameters that are sent together.
     *
     * @param parameters in the order of their places
     * @param end the element after its last; the size is divisible into equal shares
     */
    record Bucket(List<Parameter> parameters, long first, long matricesEnd, long decayingEnd, long end) {
        long elementCount() {
            return end - first;
        }
    }

    /** A range of elements. */
    record Piece(long first, long inShare, long count) {
    }

    /** A range with one update rule. */
    public record Run(boolean decays, Piece piece) {
        boolean holds(Piece part) {
            return part.first >= piece.first && part.first < piece.first + piece.count;
        }
    }

    /**
     * Creates a layout of one undivided bucket.
     * @param ordered the parameters in the order of the layers
     */
    BufferLayout(List<Parameter> ordered) {
        this(List.of(ordered), 1);
    }

    /**
     * Creates a layout of buckets.
     *
     * @param ordered the parameters of each bucket, in the order of the layers; empty buckets are left out, unless all are
     *     empty
     * @param shareCount the number of ranks that divide the buffer
     */
    BufferLayout(List<List<Parameter>> ordered, int shareCount) {
        this.shareCount = shareCount;
        List<Bucket> placed = new ArrayList<>();
        long next = 0;
        for (List<Parameter> parameters : ordered) {
            if (!parameters.isEmpty()) {
                placed.add(place(parameters, next));
                next = placed.getLast().end();
            }
        }
        if (placed.isEmpty()) {
            placed.add(place(List.of(), 0)); // a tensor has at least one element
        }
        buckets = List.copyOf(placed);
        buckets.forEach(bucket -> bucket.parameters().forEach(parameter -> bucketOf.put(parameter, bucket)));
    }

    private Bucket place(List<Parameter> ordered, long from) {
        List<Parameter> placed = new ArrayList<>();
        long matricesEnd = place(from, ordered, placed, ParameterSpec::isHiddenMatrix);
        long decayingEnd = place(matricesEnd, ordered, placed, spec -> spec.decays() && !spec.isHiddenMatrix());
        long end = place(decayingEnd, ordered, placed, spec -> !spec.decays());
        long unit = (long) ALIGNMENT * shareCount;
        long units = Math.max(1, Math.ceilDiv(end - from, unit));
        return new Bucket(List.copyOf(placed), from, matricesEnd, decayingEnd, from + units * unit);
    }

    /** Places the parameters that the predicate accepts, and returns the element after the last. */
    private long place(long from, List<Parameter> ordered, List<Parameter> placed, Predicate<ParameterSpec> some) {
        long next = from;
        for (Parameter parameter : ordered) {
            if (some.test(parameter.spec())) {
                starts.put(parameter, next);
                placed.add(parameter);
                next = Math.addExact(next, Math.ceilDiv(parameter.shape().elementCount(), ALIGNMENT) * ALIGNMENT);
            }
        }
        return next;
    }

    List<Bucket> buckets() {
        return buckets;
    }

    boolean has(Parameter parameter) {
        return bucketOf.containsKey(parameter);
    }

    Bucket bucketOf(Parameter parameter) {
        return bucketOf.get(parameter);
    }

    long start(Parameter parameter) {
        return starts.get(parameter);
    }

    /** Returns the number of all elements, including the padding between parameters, which is always zero. */
    long elementCount() {
        return buckets.getLast().end();
    }

    long shareElementCount() {
        return elementCount() / shareCount;
    }

    Piece whole(Bucket bucket) {
        return piece(bucket.first(), bucket.end());
    }

    Piece shareOf(Bucket bucket, int rank) {
        long count = bucket.elementCount() / shareCount;
        return new Piece(bucket.first() + rank * count, bucket.first() / shareCount, count);
    }

    /** Returns the share of a rank in a parameter; may be empty. */
    Optional<Piece> shareOf(Parameter parameter, int rank) {
        long first = start(parameter);
        return shareOf(bucketOf(parameter), rank, first, first + parameter.shape().elementCount());
    }

    /**
     * Returns a rank's part of a parameter in a buffer of this layout, under a name; empty if it has none.
     *
     * @param isCopy whether another rank with the same microbatches has and writes it too
     */
    Optional<StateTensor> held(String name, Parameter parameter, FlatBuffer buffer, int rank, boolean isCopy) {
        return switch (buffer.extent()) {
            case ALL -> Optional.of(new StateTensor(name,
                    buffer.part(runOf(parameter).piece(), parameter.shape()), parameter.slice(), isCopy || rank > 0));
            case SHARE_IN_PLACE, SHARE -> shareOf(parameter, rank)
                    .map(piece -> new StateTensor(name, buffer.part(piece, shapeOf(piece, parameter)),
                            parameter.slice().part(elementsOf(piece, parameter)), isCopy));
        };
    }

    /**
     * Returns the runs of the whole buffer that an optimizer updates.
     *
     * @param matricesApart whether to leave out the matrices of hidden layers
     */
    List<Run> runs(boolean matricesApart) {
        return buckets.stream()
                .flatMap(bucket -> Stream.of(
                        new Run(true,
                                piece(matricesApart ? bucket.matricesEnd() : bucket.first(), bucket.decayingEnd())),
                        new Run(false, piece(bucket.decayingEnd(), bucket.end()))))
                .filter(run -> run.piece().count() > 0).toList();
    }

    Run runOf(Parameter parameter) {
        long first = start(parameter);
        return new Run(parameter.spec().decays(), piece(first, first + parameter.shape().elementCount()));
    }

    IndexRange elementsOf(Piece piece, Parameter parameter) {
        int first = Math.toIntExact(piece.first() - start(parameter));
        return new IndexRange(first, Math.toIntExact(first + piece.count()));
    }

    /** Returns the shape of a piece of a parameter: the parameter's own if it is all of it. */
    static Shape shapeOf(Piece piece, Parameter parameter) {
        return piece.count() == parameter.shape().elementCount() ? parameter.shape() : Shape.row(piece.count());
    }

    private static Piece piece(long first, long end) {
        return new Piece(first, first, end - first);
    }

    /** Returns the part of a rank's share that an optimizer updates. */
    List<Run> runs(int rank) {
        return buckets.stream()
                .flatMap(bucket -> Stream.concat(
                        shareOf(bucket, rank, bucket.first(), bucket.decayingEnd()).stream()
                                .map(piece -> new Run(true, piece)),
                        shareOf(bucket, rank, bucket.decayingEnd(), bucket.end()).stream()
                                .map(piece -> new Run(false, piece))))
                .toList();
    }

    private Optional<Piece> shareOf(Bucket bucket, int rank, long from, long to) {
        Piece own = shareOf(bucket, rank);
        long first = Math.max(from, own.first());
        long end = Math.min(to, own.first() + own.count());
        return first < end
                ? Optional.of(new Piece(first, own.inShare() + first - own.first(), end - first))
                : Optional.empty();
    }
}
