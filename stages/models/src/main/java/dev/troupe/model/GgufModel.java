package dev.troupe.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A model in llama.cpp's format GGUF, without the values of its parameters and its tokenizer. Immutable.
 *
 * @param architecture llama.cpp's name of the family
 * @param settings the numbers and flags of the model by their keys without the architecture; an Integer is stored as
 *     uint32, a Double as float32
 * @param tensors in the order of the file
 */
public record GgufModel(String architecture, SequencedMap<String, Object> settings, List<GgufTensor> tensors) {
    public GgufModel {
        settings = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(settings));
        tensors = List.copyOf(tensors);
    }
}
