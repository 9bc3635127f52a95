package dev.troupe.optimizer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.Moments;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;
import java.util.Optional;

/**
 * The outer step of {@link Optimizer.DiLoCo} on a stage. Between two steps gradients are zero, so their buffer carries the
 * weights to the sum over the replicas: as many bytes as a sum of gradients.
 *
 * <p>Thread rule: as for kernels.
 */
final class OuterStep {
    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer.DiLoCo rule;
    private final List<Part> parts;

    /** @param mean the gradients, which are zero before and after */
    private record Part(Tensor weights, Tensor mean, Moments outer, Optional<Moments> momentum) {
    }

    /** Allocates the outer weights, equal to the first weights, and a momentum of zero. */
    OuterStep(Engine engine, StageBuffers buffers, Optimizer.DiLoCo rule) {
        this.engine = engine;
        this.buffers = buffers;
        this.rule = rule;
        this.parts = buffers.runs(false).stream().map(this::part).toList();
        parts.forEach(part -> engine.copy(part.weights, part.outer.tensor()));
    }

    private Part part(Run run) {
        return new Part(buffers.weights().part(run.piece()), buffers.gradients().part(run.piece()),
                buffers.allocateMoments(run),
                rule.momentum() > 0 ? Optional.of(buffers.allocateMoments(run)) : Optional.empty());
    }

    /** After the last step of a round, averages the weights of all replicas; each continues from the outer weights. */
    void endStep(long step, int replicas) {
        if (!rule.endsRound(step)) {
            return;
        }
        parts.forEach(part -> engine.copy(part.weights, part.mean));
        buffers.reduceGradients();
        for (Part part : parts) {
            if (replicas > 1) {
                engine.scale(part.mean, 1.0 / replicas);
            }
            update(part);
            engine.copy(part.weights, part.outer.tensor());
            engine.fill(part.mean, 0);
        }
        buffers.weightsUpdated();
    }

    /**
     * With m the mean and D = outer - m, {@code outer - rate (D + momentum V)} is
     * {@code m + (1 - rate) D - rate momentum V}: so a rate of 1 without momentum gives the mean without rounding it again.
     */
    private void update(Part part) {
        Tensor outer = part.outer.tensor();
        Tensor change = part.weights;
        engine.copy(part.mean, change);
        engine.scale(change, -1);
        engine.add(outer, change, change);
        part.momentum.ifPresent(some -> {
            engine.scale(some.tensor(), rule.momentum());
            engine.add(some.tensor(), change, some.tensor());
        });
        engine.scale(change, 1 - rule.learningRate());
        part.momentum.ifPresent(some -> {
            engine.copy(some.tensor(), outer);
            engine.scale(outer, -rule.learningRate() * rule.momentum());
            engine.add(change, outer, change);
        });
        engine.add(part.mean, change, change);
    }

    /** Appends the outer weights and the momentum of a parameter. */
    void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        for (Part part : parts) {
            part.outer.held(StateTensor.moment(Optimizer.OUTER_WEIGHTS, parameter.name()), parameter, copy)
                    .ifPresent(state::add);
            part.momentum.flatMap(some -> some.held(StateTensor.moment(Optimizer.OUTER_MOMENTUM, parameter.name()),
                    parameter, copy)).ifPresent(state::add);
        }
    }
}
