package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.parallel.TensorGroup;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The gradients that each rank of a tensor-parallel group computes only for its own rows or heads: norms with sequence
 * parallelism, norms of heads. Once a step they are summed over the group; all other gradients are complete already.
 */
final class OwnShareGradients {
    private final Engine engine;
    private final TensorGroup group;
    private final TensorPool pool;
    private final Function<Parameter, Optional<Tensor>> gradientOf;
    private final List<Parameter> all;
    /** The parameters that were summed in this step. */
    private final Set<Parameter> done = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * Selects the parameters with gradients of a rank's own rows or heads.
     *
     * @param gradientOf the part of a parameter's gradient that adds up here; empty if there is none
     */
    OwnShareGradients(Engine engine, TensorGroup group, TensorPool pool, List<Parameter> parameters,
            Function<Parameter, Optional<Tensor>> gradientOf) {
        this.engine = engine;
        this.group = group;
        this.pool = pool;
        this.gradientOf = gradientOf;
        this.all = parameters.stream().filter(Parameter::ofOwnShare).toList();
    }

    /** Sums the selected ones of these parameters over the group, in one exchange. */
    void addUp(List<Parameter> some) {
        exchange(some.stream().filter(Parameter::ofOwnShare).toList());
    }

    /** Sums the remaining selected parameters, in one exchange; the next step follows. */
    void addUpRest() {
        exchange(all.stream().filter(parameter -> !done.contains(parameter)).toList());
        done.clear();
    }

    private void exchange(List<Parameter> some) {
        List<Tensor> added = some.stream().flatMap(parameter -> gradientOf.apply(parameter).stream()).toList();
        done.addAll(some);
        if (added.isEmpty()) {
            return;
        }
        long count = added.stream().mapToLong(gradient -> gradient.shape().elementCount()).sum();
        Tensor packed = pool.take(added.getFirst().dataType(), Shape.row(count));
        List<Tensor> parts = partsOf(packed, added);
        for (int i = 0; i < parts.size(); i++) {
            engine.copy(added.get(i), parts.get(i));
        }
        group.allReduce(packed);
        for (int i = 0; i < parts.size(); i++) {
            engine.copy(parts.get(i), added.get(i));
        }
        pool.give(packed);
    }

    private List<Tensor> partsOf(Tensor packed, List<Tensor> some) {
        List<Tensor> parts = new ArrayList<>();
        long next = 0;
        for (Tensor tensor : some) {
            parts.add(engine.range(packed, next, tensor.shape()));
            next += tensor.shape().elementCount();
        }
        return parts;
    }
}
