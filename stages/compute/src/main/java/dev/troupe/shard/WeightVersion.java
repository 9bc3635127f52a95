package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One version of a stage's weights, with the copy that products read if that is of another type. */
final class WeightVersion {
    private final Engine engine;
    private final FlatBuffer weights;
    /** Null if products read the weights themselves. */
    private final Tensor computeWeights;
    private final List<Ranges> ranges = new ArrayList<>();

    private record Ranges(Parameter parameter, Tensor weights, Tensor operand) {
    }

    /** @param parameters the parameters of the buffer; none if a rank has only a share of the weights */
    WeightVersion(Engine engine, BufferLayout layout, FlatBuffer weights, Tensor computeWeights,
            List<Parameter> parameters) {
        this.engine = engine;
        this.weights = weights;
        this.computeWeights = computeWeights;
        for (Parameter parameter : parameters) {
            Tensor own = engine.range(weights.tensor(), layout.start(parameter), parameter.shape());
            ranges.add(new Ranges(parameter, own, computeWeights == null
                    ? own
                    : engine.range(computeWeights, layout.start(parameter), parameter.shape())));
        }
    }

    FlatBuffer weights() {
        return weights;
    }

    long bytes() {
        return weights.tensor().byteCount();
    }

    /** Makes layers read this version. */
    void place() {
        ranges.forEach(range -> range.parameter.placeWeights(range.weights, range.operand));
    }

    /**
     * Returns the operands of products of a piece; empty if those are the weights themselves, or if a rank has only a share.
     */
    Optional<Tensor> operands(BufferLayout.Piece piece) {
        return computeWeights == null
                ? Optional.empty()
                : Optional.of(engine.range(computeWeights, piece.first(), Shape.row(piece.count())));
    }

    /** Rounds the weights for the products after a change, in one kernel call. */
    void changed() {
        if (computeWeights != null) {
            engine.cast(weights.tensor(), computeWeights);
        }
    }

    void copyOf(WeightVersion other) {
        engine.copy(other.weights.tensor(), weights.tensor());
        if (computeWeights != null) {
            engine.copy(other.computeWeights, computeWeights);
        }
    }
}
