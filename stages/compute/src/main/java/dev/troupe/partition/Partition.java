package dev.troupe.partition;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The partition of a model: the layers of each stage. Every layer of the model is on exactly one stage, in order, and every
 * stage has at least one. Immutable.
 */
public record Partition(ModelSpec model, List<LayerRange> stages) {
    /** The value of {@code parallel.layout} for {@link #uniform}. */
    public static final String UNIFORM = "uniform";
    /** The value of {@code parallel.layout} for {@link #byParameters}. */
    public static final String PARAMETERS = "parameters";

    public Partition {
        stages = List.copyOf(stages);
        int next = 0;
        for (LayerRange range : stages) {
            if (range.first() != next) {
                throw new IllegalArgumentException(
                        "stages must hold all layers in order, each once: expected layer " + next
                                + " next, but found " + range.first() + " in " + stages);
            }
            next = range.last() + 1;
        }
        if (next != model.layers().size()) {
            throw new IllegalArgumentException(
                    "stages must hold all " + model.layers().size() + " layers, but found " + next);
        }
    }

    /**
     * Returns the partition of {@code parallel.layout}.
     *
     * @param layout {@code uniform}, {@code parameters}, or a layout string as {@link #layout} reads it
     * @throws IllegalArgumentException with a sentence for the user if there is no such partition
     */
    public static Partition of(ModelSpec model, int stageCount, String layout) {
        return switch (layout.strip()) {
            case UNIFORM -> uniform(model, stageCount);
            case PARAMETERS -> byParameters(model, stageCount);
            default -> layout(model, stageCount, layout);
        };
    }

    /**
     * Returns stages with equal counts of blocks, embedding and head counted as one each. If the count is not divisible,
     * some stages get one more: the first, the last, the second, the last but one, and so on. So if the number of blocks is
     * divisible, each stage has the same number of blocks, and the end stages also have embedding and head.
     *
     * @throws IllegalArgumentException if there are more stages than blocks, embedding and head together
     */
    public static Partition uniform(ModelSpec model, int stageCount) {
        int last = model.layers().size() - 1;
        int blocks = model.blockNumber(last) + 1;
        requireStages(model, stageCount, blocks, "");
        int each = blocks / stageCount;
        int more = blocks % stageCount;
        List<LayerRange> stages = new ArrayList<>();
        int next = 0;
        int end = 0;
        for (int stage = 0; stage < stageCount; stage++) {
            // Place in the order first, last, second, last but one ...
            int place = Math.min(2 * stage, 2 * (stageCount - 1 - stage) + 1);
            end += place < more ? each + 1 : each;
            int first = next;
            while (next <= last && model.blockNumber(next) < end) {
                next++;
            }
            stages.add(new LayerRange(first, next - 1));
        }
        return new Partition(model, stages);
    }

    /**
     * Returns the partition with the fewest parameters in the largest stage. Among all such partitions this is the one with
     * the smallest sum of squared stage sizes, and among those the one with the most layers in the first stages.
     *
     * @throws IllegalArgumentException if there are more stages than layers
     */
    public static Partition byParameters(ModelSpec model, int stageCount) {
        requireStages(model, stageCount, model.layers().size(), ", halves of blocks counted");
        return new Partition(model, ParameterBalance.split(model, stageCount));
    }

    /**
     * Returns the partition of a layout string in the form of Megatron-LM: {@code E} embedding, {@code t} block, {@code L}
     * head and loss, {@code |} between stages; {@code *N} repeats the symbol or the parenthesis before it, as in
     * {@code Et|(tt|)*2tL}; white space has no meaning. A stage may end inside a block: {@code a} is its attention half and
     * {@code m}, right after it, its MLP half, as in {@code Eta|mttL}.
     *
     * @throws IllegalArgumentException with the string, a mark under the place and the expected symbol, if it is malformed,
     *     loses or adds a layer, leaves a stage empty or has another number of stages
     */
    public static Partition layout(ModelSpec model, int stageCount, String layout) {
        return new Partition(model, LayoutString.stages(layout, model, stageCount));
    }

    /** Returns the layout string of this partition, from which {@link #layout} reads the same. */
    public String layout() {
        return stages.stream().map(this::letters).collect(Collectors.joining("|"));
    }

    private String letters(LayerRange range) {
        StringBuilder letters = new StringBuilder();
        int blocks = 0;
        for (int layer = range.first(); layer <= range.last() + 1; layer++) {
            int end = layer;
            while (end < range.last() && model.blockNumber(end + 1) == model.blockNumber(layer)) {
                end++;
            }
            if (layer <= range.last() && model.layers().get(layer).isHalf() && isWhole(layer, end)) {
                blocks++;
                layer = end;
                continue;
            }
            letters.append(blocks > 3 ? "t*" + blocks : "t".repeat(blocks));
            blocks = 0;
            if (layer <= range.last()) {
                letters.append(model.layers().get(layer).letter());
            }
        }
        return letters.toString();
    }

    public int stageCount() {
        return stages.size();
    }

    public LayerRange layers(int stage) {
        return stages.get(stage);
    }

    public int stageOf(int layer) {
        return IntStream.range(0, stages.size()).filter(stage -> stages.get(stage).last() >= layer).findFirst()
                .orElseThrow();
    }

    /** Returns the count of numbers trained on one stage; a shared parameter counts once on every stage that uses it. */
    public long parameterCount(int stage) {
        Map<String, ParameterSpec> held = new HashMap<>();
        layers(stage).of(model).forEach(layer -> layer.parameters()
                .forEach(parameter -> held.put(parameter.name(), parameter)));
        return held.values().stream().mapToLong(ParameterSpec::elementCount).sum();
    }

    /** Returns a table for a person: stage, layers, parameters; one line each, a heading first, no line end at the end. */
    public String describe() {
        int width = Math.max("layers".length(),
                stages.stream().mapToInt(range -> text(range).length()).max().orElse(0));
        String row = "%5s  %-" + width + "s  %15s";
        List<String> lines = new ArrayList<>();
        lines.add(String.format(Locale.ROOT, row, "stage", "layers", "parameters"));
        for (int stage = 0; stage < stages.size(); stage++) {
            lines.add(String.format(Locale.ROOT, row, stage, text(stages.get(stage)),
                    String.format(Locale.ROOT, "%,d", parameterCount(stage))));
        }
        return String.join("\n", lines);
    }

    private String text(LayerRange range) {
        List<String> parts = new ArrayList<>();
        String firstBlock = null;
        String lastBlock = null;
        for (int layer = range.first(); layer <= range.last(); layer++) {
            LayerSpec spec = model.layers().get(layer);
            int end = layer;
            while (end < range.last() && model.blockNumber(end + 1) == model.blockNumber(layer)) {
                end++;
            }
            if (spec.isHalf() && isWhole(layer, end)) {
                firstBlock = firstBlock == null ? spec.block() : firstBlock;
                lastBlock = spec.block();
            } else {
                addBlocks(parts, firstBlock, lastBlock);
                firstBlock = null;
                parts.add(spec.name());
            }
            layer = end;
        }
        addBlocks(parts, firstBlock, lastBlock);
        return String.join(", ", parts);
    }

    private boolean isWhole(int first, int last) {
        return (first == 0 || model.blockNumber(first - 1) != model.blockNumber(first))
                && (last == model.layers().size() - 1 || model.blockNumber(last + 1) != model.blockNumber(last));
    }

    private static void addBlocks(List<String> parts, String first, String last) {
        if (first != null) {
            parts.add(first.equals(last) ? first : first + " .. " + last);
        }
    }

    private static void requireStages(ModelSpec model, int stageCount, int most, String counted) {
        if (stageCount < 1 || stageCount > most) {
            throw new IllegalArgumentException("a model of " + model.blockCount() + " blocks has " + most
                    + " layers with embedding and head" + counted + ", which make 1 to " + most
                    + " stages, but found " + stageCount
                    + ": lower parallel.pipeline or parallel.virtual-stages, or raise model.layers");
        }
    }
}
