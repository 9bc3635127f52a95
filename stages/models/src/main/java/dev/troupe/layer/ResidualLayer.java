package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.drop.LayerDrop;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The halves of a block on one stage, often both. Each adds to the residual stream; the norm of the second half adds the
 * first half's addend, so that a whole block writes the sum once. A microbatch may {@linkplain LayerDrop drop} halves.
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
        /** The halves that the microbatch does not drop, in order. */
        private final List<Half.Pass> kept = new ArrayList<>(passes.size());
        private MicrobatchContext microbatch;
        /** The input on its way to the output, if all halves are dropped. */
        private Tensor passing;

        private Pass() {
        }

        /** Returns whether the microbatch drops all halves: the layer is then the identity, and keeps nothing. */
        public boolean isDropped() {
            return kept.isEmpty();
        }

        @Override
        public Tensor forward(Tensor x, MicrobatchContext context) {
            kept.clear();
            for (Half.Pass pass : passes) {
                if (pass.isKept(context)) {
                    kept.add(pass);
                }
            }
            enter(x, context);
            return output();
        }

        /**
         * Runs the forward as far as the backwards need it, without the last product; takes over {@code x}. Halves that the
         * first forward has dropped remain dropped.
         */
        public void enter(Tensor x, MicrobatchContext context) {
            microbatch = context;
            if (kept.isEmpty()) {
                passing = x;
                return;
            }
            kept.getFirst().enter(null, x, context);
            enterRest();
        }

        /** Returns the output, after {@link #enter} or a replay; the caller takes it over. */
        public Tensor output() {
            if (kept.isEmpty()) {
                Tensor y = passing;
                passing = null;
                return y;
            }
            Half.Pass last = kept.getLast();
            Tensor y = last.project();
            engine.add(last.residual(), y, y);
            return y;
        }

        private void enterRest() {
            for (int half = 1; half < kept.size(); half++) {
                Half.Pass before = kept.get(half - 1);
                kept.get(half).enter(before.residual(), before.project(), microbatch);
            }
        }

        @Override
        public void dropRecomputable() {
            kept.forEach(Half.Pass::dropRecomputable);
        }

        @Override
        public void dropAllButInput() {
            for (int half = kept.size() - 1; half > 0; half--) {
                kept.get(half).dropAll();
            }
            if (!kept.isEmpty()) {
                kept.getFirst().dropAllButInput();
            }
        }

        /** Returns the input of a layer that is not dropped, after {@link #dropAllButInput} and before the replay. */
        public Tensor input() {
            return kept.getFirst().residual();
        }

        /** Replaces the input by another tensor, such as a part of it; before a replay by one with the same content. */
        public void replaceInput(Tensor other) {
            kept.getFirst().replaceInput(other);
        }

        /** Frees all kept tensors after the forward; {@link #enter} computes them again, by the decisions of the forward. */
        public void dropAll() {
            for (int half = kept.size() - 1; half >= 0; half--) {
                kept.get(half).dropAll();
            }
        }

        @Override
        public void recompute() {
            if (!kept.isEmpty()) {
                kept.getFirst().recompute();
                enterRest();
            }
        }

        @Override
        public Tensor backwardInput(Tensor dy, boolean weightsFollow) {
            Tensor gradient = dy;
            for (int half = kept.size() - 1; half >= 0; half--) {
                gradient = kept.get(half).backwardInput(gradient, weightsFollow);
            }
            return gradient;
        }

        @Override
        public void backwardWeight() {
            for (int half = kept.size() - 1; half >= 0; half--) {
                kept.get(half).backwardWeight();
            }
        }

        @Override
        public void release() {
            for (int half = kept.size() - 1; half >= 0; half--) {
                kept.get(half).release();
            }
        }
    }
}
