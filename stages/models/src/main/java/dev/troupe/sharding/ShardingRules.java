package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import dev.troupe.parallel.LayerMoves;
import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.ShardingMove;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rules of a layout: the axis of ranks on which a dimension is cut, as in Mesh-TensorFlow (Shazeer et al. 2018). All that is
 * not named is whole. A plan follows from them and a model's declaration.
 *
 * @param cut the dimensions that are cut, of {@link #DIMENSIONS}
 */
public record ShardingRules(Set<String> cut) {
    static final String BATCH = "batch";
    static final String EXPERTS = "experts";
    static final String ROWS = "rows";
    private static final String VOCABULARY = "vocabulary";
    private static final String HEADS = "heads";
    private static final String INNER = "inner";
    private static final String HIDDEN = "hidden";
    /** The dimensions that layers cut, and their axis. */
    private static final SequencedMap<String, MeshAxis> DIMENSIONS = dimensions();
    private static final String NUMBER = "\\.\\d+\\.";
    private static final String ANY_NUMBER = ".*.";
    static final ShardType.Cut ON_ITS_BATCH = new ShardType.Cut(BATCH);
    static final ShardType.Cut ON_EXPERTS = new ShardType.Cut(EXPERTS);

    public ShardingRules {
        cut = Set.copyOf(cut);
    }

    private static SequencedMap<String, MeshAxis> dimensions() {
        SequencedMap<String, MeshAxis> dimensions = new LinkedHashMap<>();
        List.of(VOCABULARY, HEADS, INNER, ROWS).forEach(name -> dimensions.put(name, MeshAxis.TENSOR));
        dimensions.put(BATCH, MeshAxis.DATA);
        dimensions.put(EXPERTS, MeshAxis.EXPERT);
        return dimensions;
    }

    /** Returns the rules of a run without a plan: every layer is divided, and perhaps the rows of the residual stream. */
    public static ShardingRules standard(boolean cutsRows) {
        return new ShardingRules(DIMENSIONS.keySet().stream().filter(name -> cutsRows || !name.equals(ROWS))
                .collect(Collectors.toSet()));
    }

    static ShardingRules read(String text) {
        Map<MeshAxis, List<String>> onAxes = new EnumMap<>(MeshAxis.class);
        List<String> lines = ShardingText.lines(text);
        for (int number = 1; number <= lines.size(); number++) {
            for (String rule : lines.get(number - 1).split(";")) {
                if (!rule.isBlank()) {
                    read(rule.strip(), number, onAxes);
                }
            }
        }
        if (onAxes.isEmpty()) {
            throw new ShardingException(0, "a plan needs rules such as \"heads, inner -> tensor\", or plans of layers,"
                    + " but found none");
        }
        return new ShardingRules(onAxes.values().stream().flatMap(List::stream).collect(Collectors.toSet()));
    }

    private static void read(String rule, int number, Map<MeshAxis, List<String>> onAxes) {
        String[] sides = rule.split("->", -1);
        if (sides.length != 2) {
            throw new ShardingException(number, "a rule is written DIMENSION, DIMENSION -> AXIS, but found " + rule);
        }
        MeshAxis axis = MeshAxis.of(sides[1].strip())
                .orElseThrow(() -> new ShardingException(number, "an axis is tensor, data or expert, but found "
                        + sides[1].strip()));
        List<String> present = onAxes.computeIfAbsent(axis, _ -> new ArrayList<>());
        for (String side : sides[0].split(",")) {
            String name = side.strip();
            if (!name.equals(HIDDEN) && !DIMENSIONS.containsKey(name)) {
                throw new ShardingException(number, "there is no dimension " + name + "; the nearest is "
                        + Nearest.of(name, DIMENSIONS.keySet()) + ": layers cut "
                        + String.join(", ", DIMENSIONS.keySet()));
            }
            if (DIMENSIONS.get(name) != axis) {
                throw new ShardingException(number, (present.isEmpty()
                        ? name + " cannot be cut on the axis " + axis.word()
                        : "tensors with " + present.getFirst() + " and " + name
                                + " would be cut along both dimensions on one axis, " + axis.word())
                        + ": layers cut " + DIMENSIONS.entrySet().stream()
                                .map(one -> one.getKey() + " on " + one.getValue().word())
                                .collect(Collectors.joining(", ")));
            }
            present.add(name);
        }
    }

    /** Returns the plan of a model by these rules. */
    public ShardingPlan plan(ModelSpec model) {
        List<PlanLine> common = new ArrayList<>();
        if (cut.contains(BATCH)) {
            common.add(new PlanLine.Weight(0, BATCH, types(MeshAxis.DATA, ON_ITS_BATCH), false, false));
            common.add(new PlanLine.Weight(0, LayerCheck.WEIGHTS, types(MeshAxis.DATA, ShardType.REPLICATED), false,
                    true));
        }
        SequencedMap<String, SequencedMap<List<PlanLine>, List<String>>> kinds = new LinkedHashMap<>();
        for (LayerSpec layer : model.layers()) {
            kinds.computeIfAbsent(layer.name().replaceAll(NUMBER, ANY_NUMBER), _ -> new LinkedHashMap<>())
                    .computeIfAbsent(lines(layer, model.family().storesInputsFirst()), _ -> new ArrayList<>())
                    .add(layer.name().replaceAll("\\D", ""));
        }
        List<LayerPlan> plans = new ArrayList<>();
        kinds.forEach((name, alike) -> alike.forEach((lines, numbers) -> plans.add(new LayerPlan(alike.size() == 1
                ? name
                : name.replace("*", String.join(",", numbers)), 0, lines))));
        return new ShardingPlan(common, plans);
    }

    private static SequencedMap<MeshAxis, ShardType> types(MeshAxis axis, ShardType type) {
        SequencedMap<MeshAxis, ShardType> types = new LinkedHashMap<>();
        types.put(axis, type);
        return types;
    }

    /** Returns the lines of a layer in the order of its computation. */
    List<PlanLine> lines(LayerSpec layer, boolean inputsFirst) {
        boolean isCut = cut.contains(switch (layer.letter()) {
            case 'E', 'L' -> VOCABULARY;
            case 'a' -> HEADS;
            default -> INNER;
        });
        LayerMoves moves = LayerMoves.of(cut.contains(ROWS), !isCut);
        boolean dividesExperts = layer.hasExperts() && cut.contains(EXPERTS);
        List<ParameterSpec> ordered = layer.parameters().stream()
                .sorted(Comparator.comparing(parameter -> place(parameter, Role.of(parameter, layer, inputsFirst))))
                .toList();
        List<PlanLine> lines = new ArrayList<>();
        boolean hasEntered = layer.letter() == 'E';
        boolean isAtExperts = false;
        for (ParameterSpec parameter : ordered) {
            Role role = Role.of(parameter, layer, inputsFirst);
            if (!hasEntered && role != Role.NORM) {
                add(lines, moves.enter(), MeshAxis.TENSOR);
                hasEntered = true;
            }
            if (dividesExperts && isOfExpert(parameter) != isAtExperts) {
                add(lines, isAtExperts
                        ? new ShardingMove(ON_EXPERTS, ON_ITS_BATCH)
                        : new ShardingMove(ON_ITS_BATCH, ON_EXPERTS), MeshAxis.EXPERT);
                isAtExperts = !isAtExperts;
            }
            PlanLine line = line(parameter, role, isCut);
            if (!lines.contains(line)) { // the next expert has the same line
                lines.add(line);
            }
        }
        if (isAtExperts) {
            add(lines, new ShardingMove(ON_EXPERTS, ON_ITS_BATCH), MeshAxis.EXPERT);
        }
        if (layer.letter() != 'L') {
            add(lines, moves.leave(), MeshAxis.TENSOR);
        } else if (isCut) {
            add(lines, new ShardingMove(new ShardType.Cut(Role.word(Axis.VOCABULARY)), ShardType.INVARIANT),
                    MeshAxis.TENSOR);
        }
        return List.copyOf(lines);
    }

    private static void add(List<PlanLine> lines, ShardingMove move, MeshAxis axis) {
        if (!move.from().equals(move.to())) {
            lines.add(new PlanLine.Moved(0, move, axis));
        }
    }

    /** Returns the place of a parameter's line in the order of the computation. */
    static int place(ParameterSpec parameter, Role role) {
        return switch (role) {
            case NORM -> 0;
            case ROUTER, CHOICE_BIAS -> 1;
            case COLUMN, COLUMN_BIAS, COLUMN_ADAPTER_DOWN, COLUMN_ADAPTER_UP -> isOfExpert(parameter) ? 2 : 3;
            case EMBEDDING, HEAD -> 3;
            case HEAD_NORM -> 4;
            case ROW, ROW_ADAPTER_DOWN, ROW_ADAPTER_UP -> isOfExpert(parameter) ? 2 : 5;
            case ADDEND -> 6;
        };
    }

    static boolean isOfExpert(ParameterSpec parameter) {
        return parameter.shape().dimensions().stream().anyMatch(one -> one.axis() == Axis.EXPERT_INNER);
    }

    /** Returns the types of a parameter, as the model's declaration has them for a divided layer. */
    private PlanLine.Weight line(ParameterSpec parameter, Role role, boolean isCut) {
        boolean ofOwnRows = role == Role.NORM && cut.contains(ROWS);
        ShardType type = ofOwnRows || isCut && parameter.split() instanceof Split.WholeForOwnHeads
                ? ShardType.REPLICATED
                : isCut && parameter.split() instanceof Split.Along(Axis axis, var _)
                        ? new ShardType.Cut(Role.word(axis))
                        : ShardType.INVARIANT;
        SequencedMap<MeshAxis, ShardType> types = types(MeshAxis.TENSOR, type);
        if (cut.contains(EXPERTS) && isOfExpert(parameter)) {
            types.put(MeshAxis.EXPERT, ON_EXPERTS);
        }
        return new PlanLine.Weight(0, parameter.name().replaceAll(NUMBER, ANY_NUMBER), types,
                role == Role.ADDEND && isCut, type.equals(ShardType.REPLICATED));
    }
}
