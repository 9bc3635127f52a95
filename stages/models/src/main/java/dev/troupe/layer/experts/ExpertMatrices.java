package dev.troupe.layer.experts;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.IndexRange;
import java.util.ArrayList;
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
 * @param addsInTree whether gradients are added over the origins in a balanced tree
 */
record ExpertMatrices(List<Parameter> gates, List<Parameter> ups, List<Parameter> downs, int origins,
        boolean addsInTree) {
    /** Returns the matrices of this rank's share of the experts. */
    static ExpertMatrices of(LayerContext context, List<ExpertsHalf.Expert> experts) {
        ExpertShare share = context.experts();
        IndexRange range = share.of(experts.size());
        List<ExpertsHalf.Expert> own = experts.subList(range.first(), range.end());
        return new ExpertMatrices(parameters(context, own, ExpertsHalf.Expert::gate),
                parameters(context, own, ExpertsHalf.Expert::up), parameters(context, own, ExpertsHalf.Expert::down),
                share.group().size(), share.addsInTree() && share.divides());
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

    /**
     * Adds to the gradients of some matrices, as {@link dev.troupe.engine.RoutingKernels#segmentMatmulBackward}. In a tree
     * they are zero before, and the products of two neighbouring origins are added, then of two pairs, and so on.
     */
    void backward(Engine engine, TensorPool pool, Tensor dy, Tensor x, Tensor segments, List<Parameter> some) {
        if (!addsInTree) {
            engine.segmentMatmulBackward(dy, x, segments, ofSegments(some, Parameter::gradient));
            return;
        }
        List<List<Tensor>> ofOrigins = new ArrayList<>();
        ofOrigins.add(some.stream().map(Parameter::gradient).toList());
        while (ofOrigins.size() < origins) {
            ofOrigins.add(some.stream().map(parameter -> pool.takeFloats(parameter.shape())).toList());
            ofOrigins.getLast().forEach(gradient -> engine.fill(gradient, 0));
        }
        engine.segmentMatmulBackward(dy, x, segments, ofOrigins.stream().flatMap(List::stream).toList());
        for (int distance = 1; distance < origins; distance *= 2) {
            for (int origin = 0; origin + distance < origins; origin += 2 * distance) {
                for (int i = 0; i < some.size(); i++) {
                    Tensor sum = ofOrigins.get(origin).get(i);
                    engine.add(sum, ofOrigins.get(origin + distance).get(i), sum);
                }
            }
        }
        ofOrigins.stream().skip(1).flatMap(List::stream).forEach(pool::give);
    }

    private List<Tensor> ofSegments(List<Parameter> some, Function<Parameter, Tensor> tensor) {
        return Collections.nCopies(origins, some).stream().flatMap(List::stream).map(tensor).toList();
    }
}
