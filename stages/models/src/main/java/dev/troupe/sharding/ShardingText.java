package dev.troupe.sharding;

import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.ShardingMove;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The text of a sharding plan. A line {@code layer NAME} begins the plan of some layers; below it are parameters with their
 * types, {@code NAME TYPE}, and moves, {@code move TYPE -> TYPE}, in the order of the computation. Before the first layer
 * are lines on the batch and the weights. A {@code #} begins a comment.
 */
public final class ShardingText {
    private static final Pattern MOVE = Pattern.compile("move\\s+(.+?)\\s*->\\s*(.+)");
    private static final Pattern WEIGHT = Pattern.compile("(\\S+)\\s+(\\S.*)");
    private static final Pattern CUT = Pattern.compile("cut\\s+([a-z][a-z-]*)");
    private static final String TYPES = "replicated, invariant, partial, varying, or cut and a dimension";
    private static final String LAYER = "layer ";

    private ShardingText() {
    }

    static boolean isOfLayers(String text) {
        return text.lines().anyMatch(line -> line.strip().startsWith(LAYER));
    }

    /** Returns the lines of a text without comments and blanks at their ends; empty ones remain. */
    static List<String> lines(String text) {
        return text.lines().map(line -> line.contains("#") ? line.substring(0, line.indexOf('#')) : line)
                .map(String::strip).toList();
    }

    static ShardingPlan read(String text) {
        List<PlanLine> common = new ArrayList<>();
        List<LayerPlan> layers = new ArrayList<>();
        String layer = null;
        int begin = 0;
        List<PlanLine> current = common;
        List<String> all = lines(text);
        for (int number = 1; number <= all.size(); number++) {
            String line = all.get(number - 1);
            if (line.startsWith(LAYER)) {
                if (layer != null) {
                    layers.add(new LayerPlan(layer, begin, current));
                }
                layer = line.substring(LAYER.length()).strip();
                begin = number;
                current = new ArrayList<>();
            } else if (!line.isEmpty()) {
                current.add(line(line, number));
            }
        }
        layers.add(new LayerPlan(layer, begin, current));
        return new ShardingPlan(common, layers);
    }

    private static PlanLine line(String line, int number) {
        if (line.equals("move") || line.startsWith("move ")) {
            Matcher move = MOVE.matcher(line);
            if (!move.matches()) {
                throw new ShardingException(number, "a move is written move TYPE -> TYPE, but found " + line);
            }
            Typed to = type(move.group(2), number);
            return new PlanLine.Moved(number,
                    new ShardingMove(type(move.group(1) + to.axis().suffix(), number).type(), to.type()), to.axis());
        }
        Matcher weight = WEIGHT.matcher(line);
        if (!weight.matches()) {
            throw new ShardingException(number, "a parameter is written NAME TYPE, but found only " + line);
        }
        return weight(weight.group(1), weight.group(2), number);
    }

    private static PlanLine weight(String name, String attributes, int number) {
        SequencedMap<MeshAxis, ShardType> types = new LinkedHashMap<>();
        boolean isFirst = false;
        boolean isSummed = false;
        for (String attribute : attributes.split(",", -1)) {
            String word = attribute.strip();
            if (word.equals("first") && !isFirst) {
                isFirst = true;
            } else if (word.equals("sum") && !isSummed) {
                isSummed = true;
            } else if (word.equals("first") || word.equals("sum")) {
                throw new ShardingException(number, name + " has " + word + " twice"
                        + (word.equals("sum") ? ": its gradient would be reduced twice" : "") + ": write it once");
            } else {
                Typed typed = type(word, number);
                if (types.putIfAbsent(typed.axis(), typed.type()) != null) {
                    throw new ShardingException(number, name + " has two types on the axis " + typed.axis().word()
                            + ", " + types.get(typed.axis()).text() + " and " + typed.type().text() + ": leave one");
                }
            }
        }
        return new PlanLine.Weight(number, name, types, isFirst, isSummed);
    }

    private record Typed(ShardType type, MeshAxis axis) {
    }

    private static Typed type(String words, int number) {
        int on = words.indexOf(" on ");
        String type = (on < 0 ? words : words.substring(0, on)).strip();
        MeshAxis axis = on < 0
                ? MeshAxis.TENSOR
                : MeshAxis.of(words.substring(on + " on ".length()).strip())
                        .orElseThrow(() -> new ShardingException(number, "an axis is tensor, data or expert, but found "
                                + words.substring(on + " on ".length()).strip()));
        Matcher cut = CUT.matcher(type);
        return new Typed(switch (type) {
            case "replicated" -> ShardType.REPLICATED;
            case "invariant" -> ShardType.INVARIANT;
            case "partial" -> ShardType.PARTIAL;
            case "varying" -> new ShardType.Varying();
            default -> {
                if (!cut.matches()) {
                    throw new ShardingException(number, "a type is " + TYPES + ", but found \"" + type + "\"");
                }
                yield new ShardType.Cut(cut.group(1));
            }
        }, axis);
    }

    /**
     * Writes a plan, which is read again to an equal one but for numbers of lines.
     *
     * @param comment on a line of a plan of layers; empty for none
     */
    public static String of(ShardingPlan plan, Function<PlanLine, Optional<String>> comment) {
        StringBuilder text = new StringBuilder(256);
        plan.common().forEach(line -> text.append(line.text()).append('\n'));
        for (LayerPlan layer : plan.layers()) {
            text.append('\n').append(LAYER).append(layer.layers()).append('\n');
            layer.lines().forEach(line -> text.append("  ").append(line.text())
                    .append(comment.apply(line).map(some -> "  # " + some).orElse("")).append('\n'));
        }
        return text.toString();
    }

    /** Returns names in a sentence. */
    static String listed(List<String> names) {
        return names.stream().distinct().collect(Collectors.joining(", "));
    }
}
