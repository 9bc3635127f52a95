package dev.troupe.optimizer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.Moments;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;

/**
 * The correction of {@link Optimizer.ErrorFeedback} for a stage with gradients that are one update old. An update is the
 * difference between the newest version of the weights and the one before it.
 *
 * <p>Thread rule: as for kernels.
 */
final class DelayFeedback {
    private final Engine engine;
    private final StageBuffers buffers;
    private final List<Part> parts;

    /** @param room temporary tensors, by the sum of gradients in use: an update leaves the gradients zero */
    private record Part(Tensor weights, Tensor before, List<Tensor> room, Moments previous) {
    }

    /**
     * Allocates the previous update.
     *
     * @throws IllegalArgumentException if gradients are not one update old
     */
    DelayFeedback(Engine engine, StageBuffers buffers) {
        List<FlatBuffer> older = buffers.olderWeights();
        if (older.size() != 1) {
            throw new IllegalArgumentException(
                    "error feedback corrects a delay of one update, but gradients of this stage"
                            + " are " + older.size() + " updates old: leave it out, or take another schedule");
        }
        this.engine = engine;
        this.buffers = buffers;
        this.parts = buffers.runs(false).stream().map(run -> part(run, older.getFirst())).toList();
    }

    private Part part(Run run, FlatBuffer before) {
        return new Part(buffers.weights().part(run.piece()), before.part(run.piece()),
                buffers.gradientSums().stream().map(sum -> sum.part(run.piece())).toList(),
                buffers.allocateMoments(run));
    }

    /** Corrects the update that has just been applied, except the first, which had no delayed gradient. */
    void correct(long updateNumber) {
        for (Part part : parts) {
            Tensor update = part.room.get(buffers.sumIndex());
            Tensor previous = part.previous.tensor();
            engine.copy(part.before, update);
            engine.scale(update, -1);
            engine.add(part.weights, update, update);
            if (updateNumber > 1) {
                engine.scale(previous, -1);
                engine.add(update, previous, previous);
                engine.add(part.weights, previous, part.weights);
            }
            engine.copy(update, previous);
            engine.fill(update, 0);
        }
    }

    /** Appends the previous update of a parameter. */
    void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        String name = StateTensor.moment(Optimizer.PREVIOUS_UPDATE, parameter.name());
        parts.forEach(part -> part.previous.held(name, parameter, copy).ifPresent(state::add));
    }
}
