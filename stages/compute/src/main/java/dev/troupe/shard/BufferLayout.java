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
 * Where in a flat buffer each parameter of a stage lies. A buffer is a row of {@link Bucket}s, often a single one. In a
 * bucket lie first the matrices of hidden layers, then all other parameters that decay, then all that do not, each in the
 * order of the layers. So an optimizer meets two ranges of a bucket, the matrices of neighbouring layers are neighbours, and
 * so are all the small vectors; and one that treats the matrices of hidden layers one by one meets two ranges behind them.
 *
 * <p>Where ranks share a buffer out, each has as many neighbouring elements of every bucket, wherever parameters begin.
 * What a rank has of all buckets, one after another, is its share.
 */
public final class BufferLayout {
    /**
     * Elements that every parameter and every share of a bucket begins at a multiple of: whole vectors and whole lines of
     * the cache, so that the result of a kernel for an element does not depend on the elements before it.
     */
    public static final int ALIGNMENT = 64;

    private final int shareCount;
    private final List<Bucket> buckets;
    private final Map<Parameter, Long> starts = new IdentityHashMap<>();
    private final Map<Parameter, Bucket> bucketOf = new IdentityHashMap<>();

    /**
     * Parameters that are sent together.
     *
     * @param parameters in the order in which they lie
     * @param first its first element in the buffer
     * @param matricesEnd the element before which all are matrices of hidden layers
     * @param decayingEnd the element before which all decay
     * @param end the element after its last; the bucket can be cut into shares of one size
     */
    record Bucket(List<Parameter> parameters, long first, long matricesEnd, long decayingEnd, long end) {
        long elementCount() {
            return end - first;
        }
    }

    /**
     * Neighbouring elements.
     *
     * @param first the first of them in the buffer
     * @param inShare where it is in the share of the rank that has it
     * @param count how many there are
     */
    record Piece(long first, long inShare, long count) {
    }

    /** A piece that an optimizer updates alike. */
    public record Run(boolean decays, Piece piece) {
        boolean holds(Piece part) {
            return part.first >= piece.first && part.first < piece.first + piece.count;
        }
    }

    /** A layout of one bucket that nobody shares out, of these parameters, given in the order of the layers. */
    BufferLayout(List<Parameter> ordered) {
        this(List.of(ordered), 1);
    }

    /**
     * A layout of buckets.
     *
     * @param ordered the parameters of each bucket, in the order of the layers; one without parameters is left out,
     *     unless none has any
     * @param shareCount how many ranks share the buffer out
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
            placed.add(place(List.of(), 0)); // there is no tensor without elements
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

    /** Places some of these parameters, and returns the element behind the last. */
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

    /** Whether a parameter lies in the buffer. */
    boolean has(Parameter parameter) {
        return bucketOf.containsKey(parameter);
    }

    /** The bucket that a parameter lies in. */
    Bucket bucketOf(Parameter parameter) {
        return bucketOf.get(parameter);
    }

    /** The element that a parameter begins at. */
    long start(Parameter parameter) {
        return starts.get(parameter);
    }

    /** All elements, those between parameters too; they are zero and stay so. */
    long elementCount() {
        return buckets.getLast().end();
    }

    /** Elements of each rank's share. */
    long shareElementCount() {
        return elementCount() / shareCount;
    }

    /** All of a bucket, in a buffer that has all places. */
    Piece whole(Bucket bucket) {
        return piece(bucket.first(), bucket.end());
    }

    /** The share of a rank in a bucket. */
    Piece shareOf(Bucket bucket, int rank) {
        long count = bucket.elementCount() / shareCount;
        return new Piece(bucket.first() + rank * count, bucket.first() / shareCount, count);
    }

    /** The share of a rank in a parameter; may be empty. */
    Optional<Piece> shareOf(Parameter parameter, int rank) {
        long first = start(parameter);
        return shareOf(bucketOf(parameter), rank, first, first + parameter.shape().elementCount());
    }

    /**
     * What a rank has of a parameter in a buffer of this layout, under a name; empty if that is nothing.
     *
     * @param isCopy whether another rank that reads the same microbatches has it too, and is the one to write it
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
     * What an optimizer updates of the whole buffer.
     *
     * @param matricesApart whether all but the matrices of hidden layers
     */
    List<Run> runs(boolean matricesApart) {
        return buckets.stream()
                .flatMap(bucket -> Stream.of(
                        new Run(true,
                                piece(matricesApart ? bucket.matricesEnd() : bucket.first(), bucket.decayingEnd())),
                        new Run(false, piece(bucket.decayingEnd(), bucket.end()))))
                .filter(run -> run.piece().count() > 0).toList();
    }

    /** All of a parameter. */
    Run runOf(Parameter parameter) {
        long first = start(parameter);
        return new Run(parameter.spec().decays(), piece(first, first + parameter.shape().elementCount()));
    }

    /** Which elements of a parameter a piece is. */
    IndexRange elementsOf(Piece piece, Parameter parameter) {
        int first = Math.toIntExact(piece.first() - start(parameter));
        return new IndexRange(first, Math.toIntExact(first + piece.count()));
    }

    /** The shape of a piece of a parameter: the parameter's own if it is all of it. */
    static Shape shapeOf(Piece piece, Parameter parameter) {
        return piece.count() == parameter.shape().elementCount() ? parameter.shape() : Shape.row(piece.count());
    }

    private static Piece piece(long first, long end) {
        return new Piece(first, first, end - first);
    }

    /** The part of a rank's share that an optimizer updates. */
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
