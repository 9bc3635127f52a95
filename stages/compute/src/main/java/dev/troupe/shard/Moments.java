package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.offload.StateRegion;
import dev.troupe.offload.StateValues;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.BufferLayout.Piece;
import dev.troupe.shard.BufferLayout.Run;
import java.util.Optional;

/** The optimizer's state for a run of weights: one number for each, in the memory of the engine or in a store. */
public final class Moments {
    private final BufferLayout layout;
    private final DataShare data;
    private final Run run;
    /** Null if the numbers are in a store. */
    private final Tensor tensor;
    private final Place place;

    /** Returns numbers of the run, from one on. */
    private interface Place {
        StateValues part(long first, Shape shape);
    }

    private Moments(BufferLayout layout, DataShare data, Run run, Tensor tensor, Place place) {
        this.layout = layout;
        this.data = data;
        this.run = run;
        this.tensor = tensor;
        this.place = place;
    }

    static Moments in(Engine engine, BufferLayout layout, DataShare data, Run run, Tensor tensor) {
        return new Moments(layout, data, run, tensor,
                (first, shape) -> new StateValues.InEngine(engine.range(tensor, first, shape)));
    }

    /** Returns moments in a store, from a byte on. */
    static Moments in(Engine engine, BufferLayout layout, DataShare data, Run run, StateRegion region, long firstByte) {
        int elementBytes = engine.parameterType().elementBytes();
        return new Moments(layout, data, run, null, (first, shape) -> new StateValues.InStore(region,
                firstByte + first * elementBytes, engine.parameterType(), shape));
    }

    /** Returns the tensor of all numbers, which are in the memory of the engine. */
    public Tensor tensor() {
        return tensor;
    }

    /**
     * Returns this rank's part of a parameter's numbers, under a name; empty if it has none.
     *
     * @param isCopy whether another rank with the same microbatches has and writes it too
     */
    public Optional<StateTensor> held(String name, Parameter parameter, boolean isCopy) {
        boolean isShared = data.shares(Zero.OPTIMIZER);
        Optional<Piece> own = isShared
                ? layout.shareOf(parameter)
                : Optional.of(layout.runOf(parameter).piece());
        return own.filter(run::holds)
                .map(piece -> new StateTensor(name,
                        place.part(piece.first() - run.piece().first(), BufferLayout.shapeOf(piece, parameter)),
                        isShared ? parameter.slice().part(layout.elementsOf(piece, parameter)) : parameter.slice(),
                        isCopy || !isShared && layout.isCopy(parameter)));
    }
}
