package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.EmbeddingLayer;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.Layer;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.ResidualLayer;
import dev.troupe.layer.Tape;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.SharedParameter;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.offload.KeptInputs;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.partition.LayerRange;
import dev.troupe.shard.LayerShares;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StageParameters;
import dev.troupe.sum.ExactSum;
import dev.troupe.sum.HostReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The layers of a stage in order, with the ends of the model if they are here. */
public final class StageLayers {
    private final List<Layer> layers;
    private final List<LayerRange> ranges;
    private final List<SumPlace> sumPlaces;
    private final EmbeddingLayer embedding;
    private final HeadLayer head;
    private final TiedEnd tiedEnd;
    private final StageParameters parameters;
    private final List<List<Parameter>> trained;
    /** For each layer the trained parameters of all ranks that hold the stage, each once on the stage, by name. */
    private final List<List<String>> measured;

    /** The place of a layer's squared sums: a block of the model, and the number of its parameters on earlier stages. */
    private record SumPlace(int block, int part) {
    }

    private StageLayers(List<Layer> layers, List<LayerRange> ranges, List<SumPlace> sumPlaces, ModelSpec model) {
        this.layers = layers;
        this.ranges = ranges;
        this.sumPlaces = sumPlaces;
        this.embedding = layers.getFirst() instanceof EmbeddingLayer first ? first : null;
        this.head = layers.getLast() instanceof HeadLayer last ? last : null;
        this.tiedEnd = tiedEnd(model);
        this.parameters = new StageParameters(layers,
                model.sharedInTraining().stream().map(SharedParameter::parameter).toList());
        this.trained = parameters.used();
        this.measured = measured(model, ranges);
    }

    /** Builds these layers of the model, both halves of a block as one; their parameters have no memory yet. */
    public static StageLayers of(LayerContext context, ModelSpec model, LayerRange range) {
        List<Layer> layers = new ArrayList<>();
        List<LayerRange> ranges = new ArrayList<>();
        List<SumPlace> sumPlaces = new ArrayList<>();
        for (int number = range.first(); number <= range.last(); number++) {
            LayerSpec spec = model.layers().get(number);
            Layer layer = spec.build().in(context.of(number));
            int block = model.blockNumber(number);
            if (layer instanceof ResidualLayer half && number > range.first()
                    && model.blockNumber(number - 1) == block
                    && layers.getLast() instanceof ResidualLayer before) {
                layers.set(layers.size() - 1, before.then(half));
                ranges.set(ranges.size() - 1, new LayerRange(ranges.getLast().first(), number));
            } else {
                layers.add(layer);
                ranges.add(new LayerRange(number, number));
                sumPlaces.add(new SumPlace(block, parametersBefore(model, number)));
            }
        }
        return new StageLayers(List.copyOf(layers), List.copyOf(ranges), List.copyOf(sumPlaces), model);
    }

    private static List<List<String>> measured(ModelSpec model, List<LayerRange> ranges) {
        Set<String> known = new HashSet<>();
        return ranges.stream().map(range -> range.of(model).stream().flatMap(layer -> layer.parameters().stream())
                .filter(spec -> spec.isTrained() && known.add(spec.name())).map(ParameterSpec::name).toList())
                .toList();
    }

    private static int parametersBefore(ModelSpec model, int number) {
        int count = 0;
        for (int before = number - 1; before >= 0
                && model.blockNumber(before) == model.blockNumber(number); before--) {
            count += model.layers().get(before).parameters().size();
        }
        return count;
    }

    private TiedEnd tiedEnd(ModelSpec model) {
        boolean isTied = model.sharedInTraining().stream().map(shared -> shared.parameter().name())
                .anyMatch(name -> embedding != null && embedding.tokenTable().name().equals(name)
                        || head != null && head.table().name().equals(name));
        if (!isTied) {
            return TiedEnd.NONE;
        }
        if (head == null) {
            return TiedEnd.EMBEDDING;
        }
        return embedding == null ? TiedEnd.HEAD : TiedEnd.BOTH;
    }

    /** Null if another stage has it. */
    EmbeddingLayer embedding() {
        return embedding;
    }

    /** Null if another stage has it. */
    public HeadLayer head() {
        return head;
    }

    /** Returns the upload of this rank's tokens, of which embedding and head may have different ones. */
    TokenUpload upload(LayerContext context, int stage, int vocabulary) {
        return new TokenUpload(context, stage, vocabulary, embedding == null ? null : embedding.tokenTable(),
                head == null ? null : head.table());
    }

    TiedEnd tiedEnd() {
        return tiedEnd;
    }

    /**
     * Returns the model's layers in a layer of this stage, which may be both halves of a block; counted from the stage's
     * first.
     */
    LayerRange range(int layer) {
        return ranges.get(layer);
    }

    /**
     * Returns the trained parameters of a layer, including a second use of another layer's; counted from the stage's first.
     */
    List<Parameter> trained(int layer) {
        return trained.get(layer);
    }

    public StageParameters used() {
        return parameters;
    }

    /** Returns every trained parameter with weights on this stage, each once. */
    public List<Parameter> parameters() {
        return parameters.all();
    }

    /** Returns whether this is the head end's copy of a tied table. */
    boolean isTiedCopy(Parameter parameter) {
        return tiedEnd == TiedEnd.HEAD && parameter == head.table();
    }

    /**
     * Reports the sums of whole tensors. The ranks of the group add their parts, and one counts the common parts; each
     * data-parallel rank measures a share of each parameter that it holds.
     *
     * @param measures room for a sum of each parameter
     */
    void squaredSums(Engine engine, Measures measures, StageBuffers buffers, TensorGroup group, TensorGroup holders,
            SquaredSums sums) {
        double[] ofParameters;
        if (measures.isExact()) {
            double[] digits = exactSquaredSums(engine, buffers, group);
            group.allReduce(digits);
            holders.allReduce(digits);
            ofParameters = IntStream.range(0, digits.length / ExactSum.DIGITS)
                    .mapToDouble(i -> ExactSum.value(digits, i * ExactSum.DIGITS)).toArray();
        } else {
            ofParameters = squaredSums(engine, measures.squaredSums(), buffers, group);
            group.allReduce(ofParameters);
            holders.allReduce(ofParameters);
        }
        int next = 0;
        for (int layer = 0; layer < layers.size(); layer++) {
            int end = next + measured.get(layer).size();
            addSums(sums, sumPlaces.get(layer), Arrays.copyOfRange(ofParameters, next, end));
            next = end;
        }
    }

    /** Measures the gradients of all parameters that count here, and reads the sums in one copy; 0 for the others. */
    private double[] squaredSums(Engine engine, EngineSums onEngine, StageBuffers buffers, TensorGroup group) {
        List<Parameter> all = parameters();
        BitSet counted = new BitSet();
        for (int i = 0; i < all.size(); i++) {
            Optional<Tensor> share = counted(all.get(i), buffers, group);
            if (share.isPresent()) {
                engine.squaredSum(share.get(), onEngine.tensor(), i);
                counted.set(i);
            }
        }
        if (!counted.isEmpty()) {
            onEngine.read();
        }
        Map<String, Double> sums = new HashMap<>();
        counted.stream().forEach(i -> sums.put(all.get(i).name(), onEngine.get(i)));
        return measured.stream().flatMap(List::stream).mapToDouble(name -> sums.getOrDefault(name, 0.0)).toArray();
    }

    /** Returns the digits of each parameter's exact sum here. */
    private double[] exactSquaredSums(Engine engine, StageBuffers buffers, TensorGroup group) {
        Map<String, Parameter> byName = parameters().stream()
                .collect(Collectors.toMap(Parameter::name, Function.identity()));
        List<String> names = measured.stream().flatMap(List::stream).toList();
        double[] digits = new double[names.size() * ExactSum.DIGITS];
        HostReader reader = new HostReader(engine);
        for (int i = 0; i < names.size(); i++) {
            ExactSum sum = new ExactSum();
            Optional.ofNullable(byName.get(names.get(i))).flatMap(parameter -> counted(parameter, buffers, group))
                    .ifPresent(share -> reader.read(share, sum::addSquares));
            sum.write(digits, i * ExactSum.DIGITS);
        }
        return digits;
    }

    /** Returns this rank's share of the gradient of a parameter; empty if another rank or stage counts it. */
    private Optional<Tensor> counted(Parameter parameter, StageBuffers buffers, TensorGroup group) {
        return isTiedCopy(parameter) || parameter.spec().followsLoads()
                || parameter.slice().isWhole() && group.rank() > 0
                        ? Optional.empty()
                        : buffers.gradientShare(parameter);
    }

    /**
     * Adds the parameters of a block in order, across stages. Parameters that continue the sum of another stage are reported
     * one by one, so that the coordinator adds in the same order.
     */
    private static void addSums(SquaredSums sums, SumPlace place, double[] ofParameters) {
        if (place.part() == 0) {
            sums.add(place.block(), 0, Arrays.stream(ofParameters).reduce(0, Double::sum));
            return;
        }
        for (int parameter = 0; parameter < ofParameters.length; parameter++) {
            sums.add(place.block(), place.part() + parameter, ofParameters[parameter]);
        }
    }

    /** Runs the layers before the head without keeping tensors; the caller frees the result. */
    public Tensor forwardBeforeHead(Tensor input, MicrobatchContext microbatch) {
        Tensor x = input;
        for (Layer layer : layers) {
            if (layer != head) {
                Tape tape = layer.newTape();
                x = tape.forward(x, microbatch);
                tape.release();
            }
        }
        return x;
    }

    ReplayGroups replayGroups(Recompute recompute, Replay replay) {
        return ReplayGroups.of(layers, recompute, replay);
    }

    /** @param inputs null if blocks keep their inputs themselves */
    StageTape newTape(Recompute recompute, ReplayGroups groups, KeptInputs inputs, LayerShares shares,
            Measures measures) {
        return new StageTape(this, layers.stream().map(Layer::newTape).toList(), recompute, groups,
                inputs == null ? null : inputs.newRoom(), shares,
                measures);
    }
}
