package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.BufferLayout.Piece;
import dev.troupe.shard.BufferLayout.Run;
import java.util.Optional;

/** The optimizer's state for a run of weights: one number for each. */
public final class Moments {
    private final Engine engine;
    private final BufferLayout layout;
    private final DataShare data;
    private final Run run;
    private final Tensor tensor;

    Moments(Engine engine, BufferLayout layout, DataShare data, Run run, Tensor tensor) {
        this.engine = engine;
        this.layout = layout;
        this.data = data;
        this.run = run;
        this.tensor = tensor;
    }

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
                        engine.range(tensor, piece.first() - run.piece().first(),
                                BufferLayout.shapeOf(piece, parameter)),
                        isShared ? parameter.slice().part(layout.elementsOf(piece, parameter)) : parameter.slice(),
                        isCopy || !isShared && layout.isCopy(parameter)));
    }
}
