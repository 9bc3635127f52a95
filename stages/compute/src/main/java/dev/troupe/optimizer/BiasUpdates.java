package dev.troupe.optimizer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Updates of the biases of the choice of experts (Wang et al. 2024): each goes down by a rate if the expert had more than
 * the mean number of choices in the step, and up if it had fewer. Backwards leave that overload in place of a gradient, and
 * only its sign counts, so the clipping of gradients and the scale of losses do not matter. The numbers are few, and are
 * updated on the host.
 *
 * <p>Thread rule: as for kernels.
 */
public final class BiasUpdates {
    private final Engine engine;
    private final StageBuffers buffers;
    private final double rate;
    private final List<Bias> biases = new ArrayList<>();

    /** @param overloads by the sum of gradients that an update uses */
    private record Bias(Tensor weights, List<Tensor> overloads) {
    }

    /**
     * Finds the biases.
     *
     * @param parameters of the stage
     * @param rate 0 if they do not move
     */
    public BiasUpdates(Engine engine, StageBuffers buffers, List<Parameter> parameters, double rate) {
        this.engine = engine;
        this.buffers = buffers;
        this.rate = rate;
        parameters.stream().filter(parameter -> rate > 0 && parameter.spec().followsLoads()).forEach(this::add);
    }

    private void add(Parameter parameter) {
        held(parameter, buffers.weights()).ifPresent(weights -> biases.add(new Bias(weights,
                buffers.gradientSums().stream().map(sum -> held(parameter, sum).orElseThrow()).toList())));
    }

    private Optional<Tensor> held(Parameter parameter, FlatBuffer buffer) {
        return buffers.held(parameter.name(), parameter, buffer, false).map(StateTensor::tensor);
    }

    /** Moves the biases, and makes the overloads in use zero. */
    void step() {
        for (Bias bias : biases) {
            Tensor overload = bias.overloads.get(buffers.sumIndex());
            double[] found = read(overload);
            double[] moved = read(bias.weights);
            for (int expert = 0; expert < moved.length; expert++) {
                moved[expert] -= rate * Math.signum(found[expert]);
            }
            MemorySegment host = memory(bias.weights);
            HostNumbers.store(bias.weights.dataType(), moved, 0, host);
            engine.copyFromHost(host, bias.weights, 0);
            engine.fill(overload, 0);
        }
    }

    private double[] read(Tensor tensor) {
        double[] numbers = new double[(int) tensor.shape().elementCount()];
        MemorySegment host = memory(tensor);
        engine.copyToHost(tensor, 0, host);
        HostNumbers.load(tensor.dataType(), host, numbers, 0);
        return numbers;
    }

    private static MemorySegment memory(Tensor tensor) {
        return MemorySegment.ofArray(new byte[(int) tensor.byteCount()]);
    }
}
