package dev.troupe.optimizer;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.Moments;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Updates that change each element independently: one kernel call for each kind of decay, however many parameters there are.
 */
final class ElementUpdates {
    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer.OfElements rule;
    /** Null if moments are in the memory of the engine. */
    private final StoredMoments stored;
    /** By run, in the order of {@link Optimizer.OfElements#moments}. */
    private final List<List<Moments>> moments;
    /** By the sum of gradients that an update uses. */
    private final List<List<Part>> parts;

    /**
     * Neighbouring parameters with the same update.
     *
     * @param operands the copies of them that products read, if an update writes those; null otherwise
     */
    private record Part(boolean decays, Tensor weights, Tensor gradients, List<Tensor> moments, Tensor operands) {
    }

    /**
     * Allocates the moments of some runs.
     *
     * @param writesOperands whether products read the updated weights next, so that an update writes their operands
     * @param inStore the moments, if they are not in the memory of the engine
     */
    ElementUpdates(Engine engine, StageBuffers buffers, Optimizer.OfElements rule, List<Run> runs,
            boolean writesOperands, Optional<StoredMoments> inStore) {
        this.engine = engine;
        this.buffers = buffers;
        this.rule = rule;
        this.stored = inStore.orElse(null);
        this.moments = inStore.map(StoredMoments::ofRuns).orElseGet(() -> runs.stream()
                .map(run -> Stream.generate(() -> buffers.allocateMoments(run)).limit(rule.moments().size()).toList())
                .toList());
        List<Run> updated = inStore.map(StoredMoments::chunks).orElse(runs);
        List<List<Tensor>> tensors = inStore.map(StoredMoments::staged).orElseGet(
                () -> moments.stream().map(ofRun -> ofRun.stream().map(Moments::tensor).toList()).toList());
        this.parts = buffers.gradientSums().stream().map(gradients -> IntStream.range(0, updated.size())
                .mapToObj(index -> part(updated.get(index), gradients, tensors.get(index), writesOperands)).toList())
                .toList();
    }

    private Part part(Run run, FlatBuffer gradients, List<Tensor> ofRun, boolean writesOperands) {
        return new Part(run.decays(), buffers.weights().part(run.piece()), gradients.part(run.piece()), ofRun,
                writesOperands ? buffers.operands(run).orElse(null) : null);
    }

    /** Updates the weights by the gradients in use, which are zero afterwards. */
    void step(double learningRate, double gradientScale, long updateNumber) {
        List<Part> all = parts.get(buffers.sumIndex());
        for (int index = 0; index < all.size(); index++) {
            if (stored == null) {
                update(all.get(index), learningRate, gradientScale, updateNumber);
            } else {
                stored.beginUpdate(index);
                update(all.get(index), learningRate, gradientScale, updateNumber);
                stored.endUpdate(index);
            }
        }
    }

    private void update(Part part, double learningRate, double gradientScale, long updateNumber) {
        switch (rule) {
            case Optimizer.AdamW(double beta1, double beta2, double epsilon, double weightDecay) ->
                engine.adamW(part.weights, part.gradients, part.moments.get(0), part.moments.get(1),
                        new AdamW(learningRate, beta1, beta2, epsilon, part.decays ? weightDecay : 0, updateNumber,
                                gradientScale),
                        part.operands);
            case Optimizer.Sgd(double weightDecay, double momentum, boolean nesterov) -> {
                double decay = part.decays ? weightDecay : 0;
                if (momentum > 0) {
                    engine.sgdMomentum(part.weights, part.gradients, part.moments.getFirst(),
                            new Momentum(learningRate, momentum, nesterov, decay, gradientScale), part.operands);
                } else {
                    engine.sgd(part.weights, part.gradients, learningRate, decay, gradientScale, part.operands);
                }
            }
        }
    }

    /** Closes the room in the store, if there is one. */
    void close() {
        if (stored != null) {
            stored.close();
        }
    }

    /** Appends this rank's part of the moments of a parameter under their names. */
    void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        for (int index = 0; index < rule.moments().size(); index++) {
            String name = StateTensor.moment(rule.moments().get(index), parameter.name());
            for (List<Moments> ofRun : moments) {
                ofRun.get(index).held(name, parameter, copy).ifPresent(state::add);
            }
        }
    }
}
