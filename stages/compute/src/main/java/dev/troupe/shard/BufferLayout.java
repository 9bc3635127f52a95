package dev.troupe.shard;

import dev.troupe.engine.Shape;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.IndexRange;
import dev.troupe.parallel.TensorGroup;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The layout of a flat buffer: the place of each parameter of a stage. A buffer is a sequence of {@link Bucket}s, often a
 * single one. A bucket has first the matrices of hidden layers, then other parameters that decay, then the rest, each in the
 * order of the layers. So an optimizer updates two ranges of a bucket: with decay and without. An optimizer that updates the
 * hidden matrices one by one has two ranges after them.
 *
 * <p>If ranks divide a buffer, each holder of a bucket's parameters has the same number of consecutive elements of it,
 * regardless of parameters. A rank's share is the sequence of its parts of all buckets.
 */
public final class BufferLayout {
    /**
     * The alignment of every parameter and every share of a bucket, in elements: whole vectors and cache lines, so that the
     * result of an element does not depend on the elements before it.
     */
    public static final int ALIGNMENT = 64;

    private final List<Bucket> buckets;
    /** Whether each rank has weights of its own, so that it divides them with none. */
    private final boolean replicas;
    private final Map<Parameter, Long> starts = new IdentityHashMap<>();
    private final Map<Parameter, Bucket> bucketOf = new IdentityHashMap<>();

    /**
     * A bucket: parameters that are sent together.
     *
     * @param parameters in the order of their places
     * @param end the element after its last; the size is divisible into equal shares
     * @param holders the ranks with the same parameters, from this rank's side
     * @param inShare the first element of this rank's part, in its share
     */
    record Bucket(List<Parameter> parameters, long first, long matricesEnd, long decayingEnd, long end,
            TensorGroup holders, long inShare) {
        long elementCount() {
            return end - first;
        }

        long shareElementCount() {
            return elementCount() / holders.size();
        }

        /** Returns this rank's part. */
        Piece share() {
            return new Piece(first + holders.rank() * shareElementCount(), inShare, shareElementCount());
        }
    }

    /** A range of elements. */
    record Piece(long first, long inShare, long count) {
    }

    /** A range with one update rule. */
    public record Run(boolean decays, Piece piece) {
        public long elementCount() {
            return piece.count;
        }

        /**
         * Returns the same elements as a sequence of smaller runs.
         *
         * @param most elements of one, a multiple of {@link #ALIGNMENT}
         */
        public List<Run> cut(long most) {
            return LongStream.iterate(0, first -> first < piece.count, first -> first + most)
                    .mapToObj(first -> new Run(decays, new Piece(piece.first + first, piece.inShare + first,
                            Math.min(most, piece.count - first))))
                    .toList();
        }

        boolean holds(Piece part) {
            return part.first >= piece.first && part.first < piece.first + piece.count;
        }
    }

    /**
     * Creates a layout of one undivided bucket.
     * @param ordered the parameters in the order of the layers
     */
    BufferLayout(List<Parameter> ordered) {
        this(List.of(ordered), DataShare.ALL);
    }

    /**
     * Creates a layout of buckets.
     *
     * @param ordered the parameters of each bucket, of one group, in the order of the layers; empty buckets are left out,
     *     unless all are empty
     * @param data the ranks that divide the buffer
     */
    BufferLayout(List<List<Parameter>> ordered, DataShare data) {
        replicas = data.replicas();
        List<Bucket> placed = new ArrayList<>();
        long next = 0;
        long inShare = 0;
        for (List<Parameter> parameters : ordered) {
            if (!parameters.isEmpty()) {
                placed.add(place(parameters, data.holders(parameters.getFirst().group()), next, inShare));
                next = placed.getLast().end();
                inShare += placed.getLast().shareElementCount();
            }
        }
        if (placed.isEmpty()) {
            placed.add(place(List.of(), data.group(), 0, 0)); // a tensor has at least one element
        }
        buckets = List.copyOf(placed);
        buckets.forEach(bucket -> bucket.parameters().forEach(parameter -> bucketOf.put(parameter, bucket)));
    }

    private Bucket place(List<Parameter> ordered, TensorGroup holders, long from, long inShare) {
        List<Parameter> placed = new ArrayList<>();
        long matricesEnd = place(from, ordered, placed, ParameterSpec::isHiddenMatrix);
        long decayingEnd = place(matricesEnd, ordered, placed, spec -> spec.decays() && !spec.isHiddenMatrix());
        long end = place(decayingEnd, ordered, placed, spec -> !spec.decays());
        long unit = (long) ALIGNMENT * holders.size();
        long units = Math.max(1, Math.ceilDiv(end - from, unit));
        return new Bucket(List.copyOf(placed), from, matricesEnd, decayingEnd, from + units * unit, holders,
                inShare);
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
        Bucket last = buckets.getLast();
        return last.inShare() + last.shareElementCount();
    }

    Piece whole(Bucket bucket) {
        return piece(bucket.first(), bucket.end());
    }

    /** Returns this rank's share of a parameter; may be empty. With replicas, it is all of it. */
    Optional<Piece> shareOf(Parameter parameter) {
        if (replicas) {
            return Optional.of(runOf(parameter).piece());
        }
        long first = start(parameter);
        return shareOf(bucketOf(parameter), first, first + parameter.shape().elementCount());
    }

    /**
     * Returns this rank's part of a parameter in a buffer of this layout, under a name; empty if it has none.
     *
     * @param isCopy whether another rank with the same microbatches has and writes it too
     */
    Optional<StateTensor> held(String name, Parameter parameter, FlatBuffer buffer, boolean isCopy) {
        return switch (buffer.extent()) {
            case ALL -> Optional.of(new StateTensor(name,
                    buffer.part(runOf(parameter).piece(), parameter.shape()), parameter.slice(),
                    isCopy || isCopy(parameter)));
            case SHARE_IN_PLACE, SHARE -> shareOf(parameter)
                    .map(piece -> new StateTensor(name, buffer.part(piece, shapeOf(piece, parameter)),
                            parameter.slice().part(elementsOf(piece, parameter)), isCopy));
        };
    }

    /** Returns whether another rank with the same parameter writes what this one has of it, if each has all of it. */
    boolean isCopy(Parameter parameter) {
        return !replicas && bucketOf(parameter).holders().rank() > 0;
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

    /** Returns the part of this rank's share that an optimizer updates. */
    List<Run> runsOfShare() {
        return buckets.stream()
                .flatMap(bucket -> Stream.concat(
                        shareOf(bucket, bucket.first(), bucket.decayingEnd()).stream()
                                .map(piece -> new Run(true, piece)),
                        shareOf(bucket, bucket.decayingEnd(), bucket.end()).stream()
                                .map(piece -> new Run(false, piece))))
                .toList();
    }

    private static Optional<Piece> shareOf(Bucket bucket, long from, long to) {
        Piece own = bucket.share();
        long first = Math.max(from, own.first());
        long end = Math.min(to, own.first() + own.count());
        return first < end
                ? Optional.of(new Piece(first, own.inShare() + first - own.first(), end - first))
                : Optional.empty();
    }
}
