package dev.troupe.model;

import dev.troupe.model.spec.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Which layers each stage holds. Every layer of the model is on exactly one stage, in order, and every stage has at least
 * one. Immutable.
 *
 * @param model
 *            the model
 * @param stages
 *            the layers of each stage
 */
public record Partition(ModelConfig model, List<LayerRange> stages) {
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
        if (next != model.layerCount()) {
            throw new IllegalArgumentException(
                    "stages must hold all " + model.layerCount() + " layers, but found " + next);
        }
    }

    /**
     * The partition that {@code parallel.layout} asks for.
     *
     * @param layout
     *            {@code uniform}, {@code parameters}, or a layout string as {@link #layout} reads it
     * @throws IllegalArgumentException
     *             with a sentence for the user where there is no such partition
     */
    public static Partition of(ModelConfig model, int stageCount, String layout) {
        return switch (layout.strip()) {
            case UNIFORM -> uniform(model, stageCount);
            case PARAMETERS -> byParameters(model, stageCount);
            default -> layout(model, stageCount, layout);
        };
    }

    /**
     * Equal counts of layers, embedding and head counted as one each. Where the count does not divide, stages get one
     * more from both ends inwards: the first, the last, the second, the last but one, and so on. So where the blocks
     * divide by the stages, each stage has as many blocks as any other, and the ends carry embedding and head besides.
     *
     * @throws IllegalArgumentException
     *             where there are more stages than layers
     */
    public static Partition uniform(ModelConfig model, int stageCount) {
        requireLayers(model, stageCount);
        int each = model.layerCount() / stageCount;
        int more = model.layerCount() % stageCount;
        List<LayerRange> stages = new ArrayList<>();
        int next = 0;
        for (int stage = 0; stage < stageCount; stage++) {
            // Place in the order first, last, second, last but one ...
            int place = Math.min(2 * stage, 2 * (stageCount - 1 - stage) + 1);
            int size = place < more ? each + 1 : each;
            stages.add(new LayerRange(next, next + size - 1));
            next += size;
        }
        return new Partition(model, stages);
    }

    /**
     * The largest stage has as few parameters as possible. Among all such partitions this is the one with the smallest
     * sum of squared stage sizes, and among those the one whose first stages have most layers.
     *
     * @throws IllegalArgumentException
     *             where there are more stages than layers
     */
    public static Partition byParameters(ModelConfig model, int stageCount) {
        requireLayers(model, stageCount);
        return new Partition(model, ParameterBalance.split(model, stageCount));
    }

    /**
     * The partition that a layout string draws, in the form of Megatron-LM: {@code E} embedding, {@code t} block,
     * {@code L} head and loss, {@code |} between stages; {@code *N} repeats the symbol or the parenthesis before it, as in
     * {@code Et|(tt|)*2tL}; white space means nothing.
     *
     * @throws IllegalArgumentException
     *             with the string, a mark under the place and what was expected, where it is malformed, loses or adds a
     *             layer, leaves a stage empty or has another number of stages
     */
    public static Partition layout(ModelConfig model, int stageCount, String layout) {
        return new Partition(model, LayoutString.stages(layout, model, stageCount));
    }

    /** How many stages there are. */
    public int stageCount() {
        return stages.size();
    }

    /** The layers of one stage. */
    public LayerRange layers(int stage) {
        return stages.get(stage);
    }

    /** Numbers trained on one stage; a tied table counts on both stages that have an end of it, once where it is one. */
    public long parameterCount(int stage) {
        LayerRange range = stages.get(stage);
        long count = range.numbers().mapToLong(model::parameterCount).sum();
        boolean bothEnds = range.contains(0) && range.contains(model.layerCount() - 1);
        return bothEnds && model.tiedEmbeddings() ? count - (long) model.vocabularySize() * model.hidden() : count;
    }

    /** A table for a person: stage, layers, parameters; one line each, a heading first, no line end at the end. */
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
        if (range.contains(0)) {
            parts.add("embedding");
        }
        int firstBlock = Math.max(1, range.first());
        int lastBlock = Math.min(model.layers(), range.last());
        if (firstBlock == lastBlock) {
            parts.add("h." + (firstBlock - 1));
        } else if (firstBlock < lastBlock) {
            parts.add("h." + (firstBlock - 1) + " .. h." + (lastBlock - 1));
        }
        if (range.contains(model.layerCount() - 1)) {
            parts.add("head");
        }
        return String.join(", ", parts);
    }

    private static void requireLayers(ModelConfig model, int stageCount) {
        if (stageCount < 1 || stageCount > model.layerCount()) {
            throw new IllegalArgumentException("a model of " + model.layers() + " blocks has " + model.layerCount()
                    + " layers with embedding and head, which make 1 to " + model.layerCount() + " stages, but found "
                    + stageCount + ": lower parallel.pipeline or parallel.virtual-stages, or raise model.layers");
        }
    }
}
