package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.sum.MicrobatchTree;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A sum of a stage's gradients over microbatches, until an update uses it.
 *
 * @param buffer all gradients except for a second use
 * @param secondUse the gradient of a second use in its own memory, which is added to the first before any other use; null if
 *     there is none
 * @param ranges the whole gradient of each parameter; empty if ranks divide gradients
 * @param shares this rank's part of each parameter's gradient
 */
record GradientSum(FlatBuffer buffer, Tensor secondUse, Map<Parameter, Tensor> ranges, Map<Parameter, Tensor> shares) {
    /** Makes backwards add to this sum. */
    void place(StageParameters layers) {
        ranges.forEach(Parameter::placeGradient);
        if (secondUse != null) {
            layers.secondUse().placeGradient(secondUse);
        }
    }

    /** Creates a sum of these parameters' gradients. */
    static GradientSum of(Engine engine, BufferLayout layout, FlatBuffer buffer, Tensor secondUse,
            List<Parameter> parameters) {
        Map<Parameter, Tensor> ranges = new IdentityHashMap<>();
        Map<Parameter, Tensor> shares = new IdentityHashMap<>();
        for (Parameter parameter : parameters) {
            if (buffer.extent() != FlatBuffer.Extent.SHARE) {
                ranges.put(parameter, engine.range(buffer.tensor(), layout.start(parameter), parameter.shape()));
            }
            layout.shareOf(parameter).ifPresent(
                    piece -> shares.put(parameter, buffer.part(piece, BufferLayout.shapeOf(piece, parameter))));
        }
        return new GradientSum(buffer, secondUse, ranges, shares);
    }

    /** Returns for each layer the tree of the whole gradients to which its backward adds. */
    List<MicrobatchTree> trees(BufferLayout layout, StageParameters layers,
            Function<List<Tensor>, MicrobatchTree> tree) {
        return layers.used().stream()
                .map(used -> tree.apply(Stream.concat(
                        used.stream().filter(layout::has).map(layout::bucketOf).distinct()
                                .map(bucket -> buffer.part(layout.whole(bucket))),
                        used.stream().filter(parameter -> !layout.has(parameter)).map(_ -> secondUse)).toList()))
                .toList();
    }

    long bytes() {
        return buffer.tensor().byteCount() + (secondUse == null ? 0 : secondUse.byteCount());
    }
}
