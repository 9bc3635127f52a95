package dev.troupe.engine.emulated;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.structural.Cost;
import dev.troupe.engine.structural.StructuralEngine;

/** An engine that computes nothing; an {@link EmulatedClock} keeps the time. Every loss, sum and norm is 0. */
final class EmulatedEngine extends StructuralEngine {
    EmulatedEngine(EngineSettings settings) {
        super(settings.parameterType(), settings.computeType());
    }

    @Override
    public String kind() {
        return EmulatedEngineProvider.KIND;
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength);
    }

    @Override
    protected void work(Kernel kernel, Cost cost) {
        // The clock keeps the time of a stage's whole work; kernels take none.
    }
}
