package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.stream.Stream;

/**
 * The halves of a block on one stage, often both. Each adds to the residual stream; the norm of the second half adds the
 * first half's addend, so that a whole block writes the sum once.
 */
public final class ResidualLayer implements Layer {
    private final Engine engine;
    private final List<Half> halves;

    public ResidualLayer(LayerContext context, Half half) {
        this(context.engine(), List.of(half));
    }

    private ResidualLayer(Engine engine, List<Half> halves) {
        this.engine = engine;
        this.halves = halves;
    }

    public ResidualLayer then(ResidualLayer next) {
        return new ResidualLayer(engine, Stream.concat(halves.stream(), next.halves.stream()).toList());
    }

    @Override
    public List<Parameter> parameters() {
        return halves.stream().flatMap(half -> half.parameters().stream()).toList();
    }

    @Override
    public boolean readsWeightsBackwards() {
        return true;
    }

    @Override
    public Pass newTape() {
        return new Pass();
    }

    /** One microbatch. */
    public final class Pass implements Tape {
        private final List<Half.Pass> passes = halves.stream().map(Half::newPass).toList();
        private MicrobatchContext microbatch;

        private Pass() {
        }

        @Override
        public Tensor forward(Tensor x, MicrobatchContext context) {
            enter(x, context);
            return output();
        }

        /** Runs the forward as far as the backwards need it, without the last product; takes over {@code x}. */
        public void enter(Tensor x, MicrobatchContext context) {
            microbatch = context;
            passes.getFirst().enter(null, x, context);
            enterRest();
        }

        /** Returns the output, after {@link #enter} or a replay; the caller takes it over. */
        public Tensor output() {
            Half.Pass last = passes.getLast();
            Tensor y = last.project();
            engine.add(last.residual(), y, y);
            return y;
        }

        private void enterRest() {
            for (int half = 1; half < passes.size(); half++) {
                Half.Pass before = passes.get(half - 1);
                passes.get(half).enter(before.residual(), before.project(), microbatch);
            }
        }

        @Override
        public void dropRecomputable() {
            passes.forEach(Half.Pass::dropRecomputable);
        }

        @Override
        public void dropAllButInput() {
            for (int half = passes.size() - 1; half > 0; half--) {
                passes.get(half).dropAll();
            }
            passes.getFirst().dropAllButInput();
        }

        /** Returns the input, after {@link #dropAllButInput} and before the replay. */
        public Tensor input() {
            return passes.getFirst().residual();
        }

        /** Replaces the input by another tensor, such as a part of it; before a replay by one with the same content. */
        public void replaceInput(Tensor other) {
            passes.getFirst().replaceInput(other);
        }

        /** Frees all kept tensors after the forward; {@link #enter} computes them again, by the decisions of the forward. */
        public void dropAll() {
            for (int half = passes.size() - 1; half >= 0; half--) {
                passes.get(half).dropAll();
            }
        }

        @Override
        public void recompute() {
            passes.getFirst().recompute();
            enterRest();
        }

        @Override
        public Tensor backwardInput(Tensor dy, boolean weightsFollow) {
            Tensor gradient = dy;
            for (int half = passes.size() - 1; half >= 0; half--) {
                gradient = passes.get(half).backwardInput(gradient, weightsFollow);
            }
            return gradient;
        }

        @Override
        public void backwardWeight() {
            for (int half = passes.size() - 1; half >= 0; half--) {
                passes.get(half).backwardWeight();
            }
        }

        @Override
        public void release() {
            for (int half = passes.size() - 1; half >= 0; half--) {
                passes.get(half).release();
            }
        }
    }
}
