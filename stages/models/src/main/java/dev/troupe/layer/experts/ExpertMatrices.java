package dev.troupe.layer.experts;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.IndexRange;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The matrices of this rank's experts of a layer. If several ranks divide the experts, rows of each of these origins are
 * segments of their own, so each matrix is listed once for each origin.
 *
 * @param gates of each expert [I x C]
 * @param ups of each expert [I x C]
 * @param downs of each expert [C x I]
 * @param origins the ranks from which rows come
 */
record ExpertMatrices(List<Parameter> gates, List<Parameter> ups, List<Parameter> downs, int origins) {
    /** Returns the matrices of this rank's share of the experts. */
    static ExpertMatrices of(LayerContext context, List<ExpertsHalf.Expert> experts) {
        ExpertShare share = context.experts();
        IndexRange range = share.of(experts.size());
        List<ExpertsHalf.Expert> own = experts.subList(range.first(), range.end());
        return new ExpertMatrices(parameters(context, own, ExpertsHalf.Expert::gate),
                parameters(context, own, ExpertsHalf.Expert::up), parameters(context, own, ExpertsHalf.Expert::down),
                share.group().size());
    }

    private static List<Parameter> parameters(LayerContext context, List<ExpertsHalf.Expert> experts,
            Function<ExpertsHalf.Expert, ParameterSpec> matrix) {
        return experts.stream().map(matrix).map(context::expertParameter).toList();
    }

    /** Returns the inner width of an expert on this rank. */
    int inner() {
        return gates.getFirst().shape().size(0);
    }

    /** Returns all matrices, expert by expert. */
    Stream<Parameter> parameters() {
        return IntStream.range(0, gates.size()).boxed()
                .flatMap(expert -> Stream.of(gates.get(expert), ups.get(expert), downs.get(expert)));
    }

    /** Returns the matrix of each segment of rows, as products read it. */
    List<Tensor> weights(List<Parameter> some) {
        return ofSegments(some, Parameter::computeWeights);
    }

    /** Returns the gradient to which the rows of each segment add. */
    List<Tensor> gradients(List<Parameter> some) {
        return ofSegments(some, Parameter::gradient);
    }

    private List<Tensor> ofSegments(List<Parameter> some, Function<Parameter, Tensor> tensor) {
        return Collections.nCopies(origins, some).stream().flatMap(List::stream).map(tensor).toList();
    }
}
