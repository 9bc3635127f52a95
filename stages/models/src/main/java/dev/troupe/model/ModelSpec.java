package dev.troupe.model;

import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Balance;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Section;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Supplier;

/**
 * The declaration of a model: its layers in pipeline order, with all that follows from them. Models are equal if family and
 * section are. Immutable; any thread may read it.
 */
public final class ModelSpec {
    /** The most blocks of a model: stages are numbered with 16 bits, and embedding and head may be stages too. */
    public static final int MOST_BLOCKS = 65_534;

    private final ModelFamily family;
    private final Section section;
    private final String summary;
    private final int blockCount;
    private final Map<Axis, Integer> sizes;
    private final Supplier<List<LayerSpec>> declaration;
    private final Optional<Balance> balance;
    private volatile Listed listed;

    /** The data derived from the list of layers. */
    private record Listed(List<LayerSpec> layers, List<Integer> blockNumbers,
            SequencedMap<String, ParameterSpec> parameters, List<SharedParameter> shared) {
        static Listed of(List<LayerSpec> layers) {
            List<Integer> numbers = new ArrayList<>();
            SequencedMap<String, ParameterSpec> parameters = new LinkedHashMap<>();
            SequencedMap<String, List<Integer>> homes = new LinkedHashMap<>();
            for (int layer = 0; layer < layers.size(); layer++) {
                LayerSpec spec = layers.get(layer);
                numbers.add(layer == 0
                        ? 0
                        : numbers.getLast() + (spec.block().equals(layers.get(layer - 1).block()) ? 0 : 1));
                for (ParameterSpec parameter : spec.parameters()) {
                    parameters.putIfAbsent(parameter.name(), parameter);
                    homes.computeIfAbsent(parameter.name(), _ -> new ArrayList<>()).add(layer);
                }
            }
            return new Listed(List.copyOf(layers), List.copyOf(numbers), parameters,
                    homes.entrySet().stream().filter(home -> home.getValue().size() > 1)
                            .map(home -> new SharedParameter(parameters.get(home.getKey()), home.getValue()))
                            .toList());
        }
    }

    /**
     * @param summary the model in a line for a person, without its number of parameters
     * @param blockCount the number of blocks, without embedding and head
     * @param sizes of every axis of the parameters
     * @param declaration lists the layers; called only after the sizes were checked
     */
    public ModelSpec(ModelFamily family, Section section, String summary, int blockCount, Map<Axis, Integer> sizes,
            Supplier<List<LayerSpec>> declaration) {
        this(family, section, summary, blockCount, sizes, declaration, Optional.empty());
    }

    /** The same for a model with experts, if it has any. */
    public ModelSpec(ModelFamily family, Section section, String summary, int blockCount, Map<Axis, Integer> sizes,
            Supplier<List<LayerSpec>> declaration, Optional<Balance> balance) {
        this.family = family;
        this.section = section;
        this.summary = summary;
        this.blockCount = blockCount;
        this.sizes = Map.copyOf(sizes);
        this.declaration = declaration;
        this.balance = balance;
    }

    private Listed listed() {
        Listed known = listed;
        if (known == null) {
            known = Listed.of(declaration.get());
            listed = known;
        }
        return known;
    }

    public ModelFamily family() {
        return family;
    }

    /** Returns the model as a section; the family reads the same model from it. */
    public Section section() {
        return section;
    }

    /** Returns the model in a line for a person, without its number of parameters. */
    public String summary() {
        return summary;
    }

    /** Returns the number of blocks between embedding and head. */
    public int blockCount() {
        return blockCount;
    }

    /** Returns the measure of the loads of its experts; empty if it has none. */
    public Optional<Balance> balance() {
        return balance;
    }

    public boolean has(Axis axis) {
        return sizes.containsKey(axis);
    }

    public int size(Axis axis) {
        Integer size = sizes.get(axis);
        if (size == null) {
            throw new IllegalArgumentException("a model of the family " + family.name() + " has no axis " + axis);
        }
        return size;
    }

    /** Returns the layers in pipeline order: embedding, the halves of each block, head. */
    public List<LayerSpec> layers() {
        return listed().layers;
    }

    /** Returns the number of a layer's block: 0 for the embedding, 1 for the first block, and so on to the head. */
    public int blockNumber(int layer) {
        return listed().blockNumbers.get(layer);
    }

    /** Returns every parameter once, by name, from the embedding to the head. */
    public SequencedMap<String, ParameterSpec> parameters() {
        return listed().parameters;
    }

    /** Returns the adapters, if only these are trained; empty if every parameter is. */
    public Optional<Lora> lora() {
        return Lora.of(section);
    }

    /** Returns the same model without adapters. */
    public ModelSpec base() {
        Map<String, Object> values = new HashMap<>(section.values());
        values.keySet().removeAll(Lora.KEYS);
        return family.read(new Section(values));
    }

    public long trainedCount() {
        return parameters().values().stream().filter(ParameterSpec::isTrained).mapToLong(ParameterSpec::elementCount)
                .sum();
    }

    /** Returns the {@link #shared} parameters that are trained, so that their layers add up gradients. */
    public List<SharedParameter> sharedInTraining() {
        return shared().stream().filter(one -> one.parameter().isTrained()).toList();
    }

    /** Returns the parameters that several layers use. */
    public List<SharedParameter> shared() {
        return listed().shared;
    }

    /** Returns the number of all elements; a shared parameter counts once. */
    public long parameterCount() {
        return parameters().values().stream().mapToLong(ParameterSpec::elementCount).sum();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ModelSpec model && family.name().equals(model.family.name())
                && section.equals(model.section);
    }

    @Override
    public int hashCode() {
        return section.hashCode();
    }

    @Override
    public String toString() {
        return family.name() + " " + section.values();
    }
}
