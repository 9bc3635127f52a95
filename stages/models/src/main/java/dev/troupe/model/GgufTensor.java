package dev.troupe.model;

import java.util.List;

/** A tensor of a GGUF file: its name there, and the source of its values. Immutable. */
public sealed interface GgufTensor {
    /** Returns the name that llama.cpp looks for. */
    String name();

    /** The order in which the rows of a parameter are stored. */
    sealed interface Order {
        /** The order of the parameter. */
        record Same() implements Order {
        }

        /** Rows for columns, of a matrix that is published [in x out]. */
        record Transposed() implements Order {
        }

        /**
         * For each head, row i of its first half before row i of its second half: llama.cpp rotates neighbouring pairs,
         * Hugging Face i with i + D/2.
         *
         * @param heads the heads that share the rows
         */
        record NeighbouringPairs(int heads) implements Order {
        }
    }

    /**
     * The values of a parameter.
     *
     * @param isAlwaysFloat32 whether it is stored as float32 whatever the type of the file, as every vector is
     */
    record OfParameter(String name, String parameter, Order order, boolean isAlwaysFloat32) implements GgufTensor {
    }

    /**
     * The values of parameters of one shape, one after another; the file has a dimension more.
     *
     * @param parameters their names in the model
     */
    record Stacked(String name, List<String> parameters) implements GgufTensor {
        public Stacked {
            parameters = List.copyOf(parameters);
        }
    }

    /** A vector of numbers that follow from the model, stored as float32. */
    record Constant(String name, List<Float> values) implements GgufTensor {
        public Constant {
            values = List.copyOf(values);
        }
    }
}
