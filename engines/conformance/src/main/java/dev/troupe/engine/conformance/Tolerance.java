package dev.troupe.engine.conformance;

/**
 * The allowed error of an element, in units of the rounding error of the engine's float type (2^-24 or 2^-53).
 */
@FunctionalInterface
interface Tolerance {
    /**
     * Room for constants: rounding is modelled as random, so a sum of n terms has an error of about sqrt(n) units of the sum
     * of magnitudes. The largest error among thousands of elements is a few times that.
     */
    double ROOM = 4;

    /** Room for functions: exp, log and tanh of a float library may be off by some units in the last place. */
    double FUNCTION_ROOM = 16;

    double unitsAt(Truth truth, int index);

    /**
     * For an output that is a sum of products of its operands: {@code ROOM (sqrt(terms) + 2)} units of the same kernel's
     * result on magnitudes. It holds for any order of the sum, with or without fused operations.
     */
    static Tolerance ofSum(String output, int terms) {
        return (truth, i) -> ofTerms(terms) * truth.ofMagnitudes(output)[i];
    }

    /** The units of error in a sum of {@code terms} terms with magnitudes that add up to 1. */
    static double ofTerms(int terms) {
        return ROOM * (Math.sqrt(terms) + 2);
    }
}
