package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.NamedShape;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.ShardingMove;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The import of a dictionary of PyTorch's parallel styles ({@code torch.distributed.tensor.parallel}): {@code
 * ColwiseParallel}, {@code RowwiseParallel}, {@code SequenceParallel} and {@code PrepareModuleInput}, for the modules of a
 * block, and perhaps for embedding, last norm and output. A module of a block that is not named is whole on every rank. An
 * embedding or a head that is not named has the types of a run without a plan. Lines keep their numbers in the dictionary.
 */
final class TorchPlan {
    private static final String COLWISE = "ColwiseParallel";
    private static final String ROWWISE = "RowwiseParallel";
    private static final String SEQUENCE = "SequenceParallel";
    private static final String PREPARE = "PrepareModuleInput";
    private static final String INPUTS = "input_layouts";
    private static final String OUTPUTS = "output_layouts";
    /** The arguments of each style; the others change no number. */
    private static final Map<String, Set<String>> ARGUMENTS = Map.of(
            COLWISE, Set.of(INPUTS, OUTPUTS, "use_local_output"), ROWWISE, Set.of(INPUTS, OUTPUTS, "use_local_output"),
            SEQUENCE, Set.of("sequence_dim", "use_local_output"),
            PREPARE, Set.of(INPUTS, "desired_input_layouts", "use_local_output"));
    /** A parameter of a block: the block, the module, and weight or bias. */
    private static final Pattern PARAMETER = Pattern.compile("(?:(.*?)\\.(\\d+)\\.)?(.+)\\.(?:weight|bias)");
    private static final Pattern OF_BLOCKS = Pattern.compile("(?:.*\\.)?layers\\.(?:\\*|\\d+)\\.(.+)");

    private final ModelSpec model;
    private final SequencedMap<String, TorchDictionary.Value> styles = new LinkedHashMap<>();
    private final Map<String, String> asWritten = new HashMap<>();
    private final Set<String> used = new LinkedHashSet<>();
    private final boolean cutsRows;

    private TorchPlan(ModelSpec model, SequencedMap<String, TorchDictionary.Value> entries) {
        this.model = model;
        entries.forEach((key, style) -> {
            if (!ARGUMENTS.containsKey(style.name())) {
                throw new ShardingException(style.line(), style.name() + " is no style that is read; the nearest is "
                        + Nearest.of(style.name(), ARGUMENTS.keySet()));
            }
            for (String argument : style.arguments().keySet()) {
                if (!ARGUMENTS.get(style.name()).contains(argument)) {
                    throw new ShardingException(style.line(), style.name() + " has the argument " + argument
                            + ", which is not read; the nearest is "
                            + Nearest.of(argument, ARGUMENTS.get(style.name())));
                }
            }
            Matcher ofBlocks = OF_BLOCKS.matcher(key);
            String module = ofBlocks.matches() ? ofBlocks.group(1) : key;
            String own = model.family().modulesInPyTorch().getOrDefault(module, module);
            styles.put(own, style);
            asWritten.put(own, key);
        });
        cutsRows = entries.values().stream().anyMatch(style -> style.name().equals(SEQUENCE));
    }

    static ShardingPlan read(String text, ModelSpec model) {
        SequencedMap<String, TorchDictionary.Value> entries = TorchDictionary.read(text);
        if (model.has(Axis.EXPERTS)) {
            throw new ShardingException(0, "a dictionary of PyTorch is read for models without experts: write a plan of"
                    + " layers, as ./troupe layout --plan prints it");
        }
        return new TorchPlan(model, entries).plan();
    }

    private ShardingPlan plan() {
        List<LayerPlan> layers = new ArrayList<>();
        ShardingRules standard = ShardingRules.standard(cutsRows);
        int begin = styles.values().stream().mapToInt(TorchDictionary.Value::line).findFirst().orElse(0);
        for (LayerSpec layer : model.layers()) {
            boolean isNamed = layer.isHalf() || layer.parameters().stream()
                    .anyMatch(parameter -> style(parameter).isPresent());
            layers.add(new LayerPlan(layer.name(), begin, isNamed
                    ? lines(layer, begin)
                    : standard.lines(layer, model.family().storesInputsFirst())));
        }
        styles.forEach((module, style) -> {
            if (!used.contains(module)) {
                Set<String> known = new LinkedHashSet<>();
                model.layers().forEach(layer -> layer.parameters().forEach(one -> known.add(module(one))));
                model.family().modulesInPyTorch().forEach((theirs, own) -> known.add(theirs));
                throw new ShardingException(style.line(), "there is no module " + asWritten.get(module)
                        + "; the nearest name is " + Nearest.of(asWritten.get(module), known));
            }
        });
        return new ShardingPlan(standard.plan(model).common(), layers);
    }

    private static String module(ParameterSpec parameter) {
        Matcher parts = PARAMETER.matcher(parameter.name());
        return parts.matches() ? parts.group(3) : parameter.name();
    }

    private Optional<TorchDictionary.Value> style(ParameterSpec parameter) {
        return style(module(parameter));
    }

    private Optional<TorchDictionary.Value> style(String module) {
        Optional<TorchDictionary.Value> style = Optional.ofNullable(styles.get(module));
        style.ifPresent(_ -> used.add(module));
        return style;
    }

    private List<PlanLine> lines(LayerSpec layer, int begin) {
        boolean inputsFirst = model.family().storesInputsFirst();
        List<ParameterSpec> ordered = layer.parameters().stream()
                .sorted(Comparator.comparing(one -> ShardingRules.place(one, Role.of(one, layer, inputsFirst))))
                .toList();
        List<PlanLine> lines = new ArrayList<>();
        Optional<TorchDictionary.Value> prepare = prepare(layer);
        boolean hasEntered = layer.letter() == 'E';
        boolean isCut = false;
        Optional<PlanLine.Moved> leave = Optional.empty();
        for (ParameterSpec parameter : ordered) {
            Role role = Role.of(parameter, layer, inputsFirst);
            Optional<TorchDictionary.Value> style = style(parameter);
            int line = style.map(TorchDictionary.Value::line).orElse(begin);
            if (!hasEntered && role != Role.NORM) {
                enter(prepare, style, line).ifPresent(lines::add);
                hasEntered = true;
            }
            isCut |= style.isPresent() && role != Role.NORM;
            if (role == Role.ROW || role == Role.EMBEDDING) {
                leave = leave(style, line);
            }
            lines.add(new PlanLine.Weight(line, parameter.name(), types(parameter, role, style, inputsFirst, isCut),
                    role == Role.ADDEND && isCut, isSummed(parameter, role, style, isCut)));
        }
        leave.ifPresent(lines::add);
        if (layer.letter() == 'L' && isCut) {
            lines.add(moved(begin, new ShardType.Cut(Role.word(Axis.VOCABULARY)), ShardType.INVARIANT));
        }
        return lines;
    }

    /** Returns the style of the module that has all modules of a half of a block. */
    private Optional<TorchDictionary.Value> prepare(LayerSpec layer) {
        return styles.keySet().stream()
                .filter(module -> styles.get(module).name().equals(PREPARE) && layer.parameters().stream()
                        .anyMatch(one -> one.isHiddenMatrix() && module(one).startsWith(module + ".")))
                .findFirst().flatMap(this::style);
    }

    private Optional<PlanLine> enter(Optional<TorchDictionary.Value> prepare, Optional<TorchDictionary.Value> style,
            int line) {
        if (prepare.isPresent()) {
            ShardType from = layout(prepare.get(), INPUTS, ShardType.INVARIANT);
            ShardType to = layout(prepare.get(), "desired_input_layouts", ShardType.INVARIANT);
            return Optional.of(moved(prepare.get().line(), from, to instanceof ShardType.Invariant
                    ? ShardType.REPLICATED
                    : to));
        }
        if (style.isEmpty() || !style.get().name().equals(COLWISE)) {
            return Optional.empty();
        }
        ShardType from = layout(style.get(), INPUTS, ShardType.INVARIANT);
        // A colwise layer takes a replicated input by default; with rows someone must have gathered them before.
        return from.equals(ShardType.ROWS) || !cutsRows
                ? Optional.of(moved(line, from, ShardType.REPLICATED))
                : Optional.empty();
    }

    private static Optional<PlanLine.Moved> leave(Optional<TorchDictionary.Value> style, int line) {
        return style.filter(one -> one.name().equals(ROWWISE))
                .map(one -> moved(line, ShardType.PARTIAL, layout(one, OUTPUTS, ShardType.INVARIANT)));
    }

    private static PlanLine.Moved moved(int line, ShardType from, ShardType to) {
        return new PlanLine.Moved(line, new ShardingMove(from, to), MeshAxis.TENSOR);
    }

    /** Returns the type of the first tensor of a layout; Shard(1) of [batch x sequence x hidden] is a cut of rows. */
    private static ShardType layout(TorchDictionary.Value style, String argument, ShardType otherwise) {
        TorchDictionary.Value layout = style.arguments().get(argument);
        if (layout == null) {
            return otherwise;
        }
        TorchDictionary.Value first = layout.name().isEmpty() && !layout.arguments().isEmpty()
                ? layout.arguments().firstEntry().getValue()
                : layout;
        if (first.name().equals("Replicate")) {
            return ShardType.INVARIANT;
        }
        if (first.name().equals("Shard") && first.arguments().size() == 1
                && first.arguments().firstEntry().getValue().name().equals("1")) {
            return ShardType.ROWS;
        }
        throw new ShardingException(style.line(), argument + " is Replicate() or Shard(1), the sequence, but found "
                + first.name() + (first.arguments().isEmpty()
                        ? ""
                        : "(" + first.arguments().firstEntry().getValue()
                                .name() + ")"));
    }

    private static SequencedMap<MeshAxis, ShardType> types(ParameterSpec parameter, Role role,
            Optional<TorchDictionary.Value> style, boolean inputsFirst, boolean isCut) {
        SequencedMap<MeshAxis, ShardType> types = new LinkedHashMap<>();
        types.put(MeshAxis.TENSOR, type(parameter, role, style, inputsFirst, isCut));
        return types;
    }

    private static ShardType type(ParameterSpec parameter, Role role, Optional<TorchDictionary.Value> style,
            boolean inputsFirst, boolean isCut) {
        if (style.isEmpty() || role == Role.ADDEND) {
            boolean isOfAdapter = parameter.shape().dimensions().stream().anyMatch(one -> one.axis() == Axis.ADAPTER);
            return switch (parameter.split()) {
                case Split.WholeForOwnHeads() when isCut -> ShardType.REPLICATED;
                case Split.Along(Axis axis, var _) when isCut && isOfAdapter -> new ShardType.Cut(Role.word(axis));
                default -> ShardType.INVARIANT;
            };
        }
        String name = style.get().name();
        List<NamedShape.Dimension> dimensions = parameter.shape().dimensions();
        if (name.equals(SEQUENCE)) {
            return ShardType.REPLICATED;
        }
        if (role == Role.EMBEDDING || role == Role.HEAD) {
            // An embedding's rows are its inputs, and a head's rows its outputs.
            boolean isOfRows = name.equals(role == Role.EMBEDDING ? ROWWISE : COLWISE);
            return new ShardType.Cut(Role.word(dimensions.get(isOfRows ? 0 : 1).axis()));
        }
        boolean isOfOutputs = name.equals(COLWISE);
        return new ShardType.Cut(Role.word((dimensions.size() == 1
                ? dimensions.getFirst()
                : dimensions.get(isOfOutputs == inputsFirst ? 1 : 0)).axis()));
    }

    private static boolean isSummed(ParameterSpec parameter, Role role, Optional<TorchDictionary.Value> style,
            boolean isCut) {
        return role == Role.NORM
                ? style.filter(one -> one.name().equals(SEQUENCE)).isPresent()
                : isCut && style.isEmpty() && parameter.split() instanceof Split.WholeForOwnHeads;
    }
}
