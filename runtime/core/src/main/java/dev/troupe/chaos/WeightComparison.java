package dev.troupe.chaos;

import dev.troupe.weights.SafeTensors;
import java.nio.file.Path;
import java.util.Optional;

/** Compares the weights of two models bit by bit. */
final class WeightComparison {
    private WeightComparison() {
    }

    /**
     * Returns the first difference of two safetensors files, in words; empty where every tensor has the same name,
     * type, shape and bits in both.
     */
    static Optional<String> firstDifference(Path expected, Path found) {
        try (SafeTensors one = SafeTensors.open(expected); SafeTensors other = SafeTensors.open(found)) {
            if (!one.tensors().equals(other.tensors())) {
                return Optional.of("the models have tensors of different names, types or shapes");
            }
            for (String name : one.tensors().keySet()) {
                long mismatch = one.bytes(name).mismatch(other.bytes(name));
                if (mismatch >= 0) {
                    return Optional.of("tensor " + name + " differs from byte " + mismatch + " on");
                }
            }
            return Optional.empty();
        }
    }
}
