package dev.troupe.model;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where in a flat buffer each parameter of a stage lies: first all that decay, then all that do not, both in the order of
 * the layers. So an optimizer meets two ranges, the matrices of neighbouring layers are neighbours, and so are all the
 * small vectors.
 */
final class BufferLayout {
    /**
     * Elements that every parameter begins at a multiple of: whole vectors and whole lines of the cache, so that what a
     * kernel does with an element does not depend on what lies before it.
     */
    static final int ALIGNMENT = 64;

    private final List<Parameter> parameters;
    private final Map<Parameter, Long> starts = new IdentityHashMap<>();
    private final long decayingCount;
    private final long elementCount;

    /** A layout of these parameters, given in the order of the layers. */
    BufferLayout(List<Parameter> ordered) {
        List<Parameter> placed = new ArrayList<>(ordered.stream().filter(Parameter::decays).toList());
        decayingCount = place(placed, 0);
        List<Parameter> others = ordered.stream().filter(parameter -> !parameter.decays()).toList();
        elementCount = place(others, decayingCount);
        placed.addAll(others);
        parameters = List.copyOf(placed);
    }

    private long place(List<Parameter> some, long from) {
        long next = from;
        for (Parameter parameter : some) {
            starts.put(parameter, next);
            next = Math.addExact(next, Math.ceilDiv(parameter.shape().elementCount(), ALIGNMENT) * ALIGNMENT);
        }
        return next;
    }

    /** The parameters in the order in which they lie. */
    List<Parameter> parameters() {
        return parameters;
    }

    /** The element that a parameter begins at. */
    long start(Parameter parameter) {
        return starts.get(parameter);
    }

    /** Elements before the first that does not decay. */
    long decayingCount() {
        return decayingCount;
    }

    /** All elements, those between parameters too; they are zero and stay so. */
    long elementCount() {
        return elementCount;
    }
}
