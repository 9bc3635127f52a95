package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.parallel.TensorGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The layers of a stage in order, with the ends of the model where they are here. */
final class StageLayers {
    private final List<Layer> layers;
    private final EmbeddingLayer embedding;
    private final HeadLayer head;
    private final TiedEnd tiedEnd;

    private StageLayers(List<Layer> layers, EmbeddingLayer embedding, HeadLayer head, TiedEnd tiedEnd) {
        this.layers = layers;
        this.embedding = embedding;
        this.head = head;
        this.tiedEnd = tiedEnd;
    }

    /** Builds these layers of the model; their parameters are still to be placed. */
    static StageLayers of(LayerContext context, LayerRange range, int microbatchesPerStep) {
        ModelConfig model = context.model();
        List<Layer> layers = new ArrayList<>();
        EmbeddingLayer embedding = null;
        HeadLayer head = null;
        for (int number = range.first(); number <= range.last(); number++) {
            if (number == 0) {
                embedding = new EmbeddingLayer(context);
                layers.add(embedding);
            } else if (number < model.layerCount() - 1) {
                layers.add(new Block(context, number));
            } else {
                head = new HeadLayer(context, model.tiedEmbeddings() ? embedding : null, microbatchesPerStep);
                layers.add(head);
            }
        }
        return new StageLayers(List.copyOf(layers), embedding, head, tiedEnd(model, embedding, head));
    }

    private static TiedEnd tiedEnd(ModelConfig model, EmbeddingLayer embedding, HeadLayer head) {
        if (!model.tiedEmbeddings() || embedding == null && head == null) {
            return TiedEnd.NONE;
        }
        if (head == null) {
            return TiedEnd.EMBEDDING;
        }
        return embedding == null ? TiedEnd.HEAD : TiedEnd.BOTH;
    }

    /** Null where another stage has it. */
    EmbeddingLayer embedding() {
        return embedding;
    }

    /** Null where another stage has it. */
    HeadLayer head() {
        return head;
    }

    TiedEnd tiedEnd() {
        return tiedEnd;
    }

    /** Every parameter whose weights are on this stage, each once. */
    List<Parameter> parameters() {
        return layers.stream().flatMap(layer -> layer.parameters().stream()).toList();
    }

    /**
     * The parameters of the stage by what is sent together where several ranks hold them: a layer's are, but for a table
     * of the vocabulary. A tied one crosses stages by itself, and one that a tensor-parallel group shares out unevenly
     * would leave the ranks of the group with unlike shares of what they all have.
     */
    List<List<Parameter>> buckets() {
        List<List<Parameter>> buckets = new ArrayList<>();
        for (Layer layer : layers) {
            layer.parameters().stream().filter(this::isTable).map(List::of).forEach(buckets::add);
            List<Parameter> others = layer.parameters().stream().filter(parameter -> !isTable(parameter)).toList();
            buckets.add(others);
        }
        return buckets;
    }

    /** For each layer the parameters whose gradients are final when its last backward is: a tied table's still meet. */
    List<List<Parameter>> finalWithLayers() {
        return layers.stream().map(layer -> layer.parameters().stream()
                .filter(parameter -> tiedEnd == TiedEnd.NONE || !isTable(parameter)).toList()).toList();
    }

    private boolean isTable(Parameter parameter) {
        return embedding != null && parameter == embedding.tokenTable() || head != null && parameter == head.table();
    }

    /** For each layer the parameters that it uses, a second use of another layer's too. */
    List<List<Parameter>> used() {
        return layers.stream().map(layer -> layer == head && tiedEnd == TiedEnd.BOTH
                ? Stream.concat(layer.parameters().stream(), Stream.of(head.table())).toList()
                : layer.parameters()).toList();
    }

    /** The head end's use of a table whose both ends are here; null where there is none. */
    Parameter secondUse() {
        return tiedEnd == TiedEnd.BOTH ? head.table() : null;
    }

    /** Whether this is the head end's copy of a tied table. */
    boolean isTiedCopy(Parameter parameter) {
        return tiedEnd == TiedEnd.HEAD && parameter == head.table();
    }

    /**
     * The sums of whole tensors: the ranks of the group add up what they have, and one counts what all of them have; the
     * ranks that hold the same weights measure a share each.
     */
    List<LayerSquaredSum> squaredSums(Engine engine, StageBuffers buffers, TensorGroup group, TensorGroup holders) {
        double[] ofParameters = parameters().stream().mapToDouble(
                parameter -> isTiedCopy(parameter) || parameter.slice().isWhole() && group.rank() > 0
                        ? 0
                        : buffers.gradientShare(parameter).map(engine::squaredSum).orElse(0.0))
                .toArray();
        group.allReduce(ofParameters);
        holders.allReduce(ofParameters);
        List<LayerSquaredSum> sums = new ArrayList<>();
        int next = 0;
        for (Layer layer : layers) {
            int end = next + layer.parameters().size();
            sums.add(
                    new LayerSquaredSum(layer.number(), Arrays.stream(ofParameters, next, end).reduce(0, Double::sum)));
            next = end;
        }
        return sums;
    }

    /** Runs the layers up to the head, keeping nothing; the caller gives the activation back. */
    Tensor forwardBeforeHead(Tensor input) {
        Tensor x = input;
        for (Layer layer : layers) {
            if (layer != head) {
                Tape tape = layer.newTape();
                x = tape.forward(x, DropoutKey.NONE);
                tape.release();
            }
        }
        return x;
    }

    StageTape newTape(Recompute recompute, LayerShares shares) {
        return new StageTape(layers.stream().map(Layer::newTape).toList(), recompute, shares);
    }
}
