package dev.troupe.plan.profile;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The costs of layers in a value of {@code parallel.layout}: {@code costs(...)}. */
final class GivenCosts {
    private static final String BEGIN = "costs(";
    private static final String END = ")";
    /** Given costs are in any unit; the greatest is this many nanoseconds, so that rounding has no effect. */
    private static final double GREATEST = 1e9;

    private GivenCosts() {
    }

    /** Returns whether a value of {@code parallel.layout} has costs in it. */
    static boolean isGiven(String layout) {
        return layout.strip().startsWith(BEGIN);
    }

    /**
     * Reads the costs in a value of {@code parallel.layout}, such as {@code costs(E=1, a=4, m=8, L=20)} with a cost for each
     * letter of the model, or {@code costs(1, 4, 8, 4, 8, 20)} with one for each layer. The unit is free. A layer takes its
     * cost for F, for I and for W.
     *
     * @throws UsageException if a letter or layer has no cost, or more than one
     */
    static List<Unit> read(String layout, ModelSpec model) {
        String text = layout.strip();
        if (!text.endsWith(END)) {
            throw refused(layout, model, "it does not end with )");
        }
        List<String> parts = Arrays.stream(text.substring(BEGIN.length(), text.length() - 1).split(",", -1))
                .map(String::strip).toList();
        List<Double> costs = parts.stream().allMatch(part -> part.contains("="))
                ? ofLetters(layout, parts, model)
                : parts.stream().map(part -> number(layout, part, model)).toList();
        if (costs.size() != model.layers().size()) {
            throw refused(layout, model, "it has " + costs.size() + " costs");
        }
        double greatest = costs.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        if (greatest == 0) {
            throw refused(layout, model, "every cost is 0");
        }
        List<Unit> units = new ArrayList<>();
        for (int layer = 0; layer < costs.size(); layer++) {
            long nanos = Math.round(costs.get(layer) / greatest * GREATEST);
            units.add(new Unit(model.layers().get(layer).name(), new StageCost(nanos, nanos, nanos, 0), 0, 0));
        }
        return units;
    }

    private static List<Double> ofLetters(String layout, List<String> parts, ModelSpec model) {
        Map<String, Double> byLetter = new HashMap<>();
        for (String part : parts) {
            int equals = part.indexOf('=');
            String letter = part.substring(0, equals).strip();
            if (model.layers().stream().noneMatch(layer -> letter.equals("" + layer.letter()))
                    || byLetter.put(letter, number(layout, part.substring(equals + 1).strip(), model)) != null) {
                throw refused(layout, model, "it has \"" + part + '"');
            }
        }
        List<Double> costs = new ArrayList<>();
        for (LayerSpec layer : model.layers()) {
            Double cost = byLetter.get("" + layer.letter());
            if (cost == null) {
                throw refused(layout, model, "it has no cost of " + layer.letter());
            }
            costs.add(cost);
        }
        return costs;
    }

    private static double number(String layout, String text, ModelSpec model) {
        try {
            double number = Double.parseDouble(text);
            if (number >= 0 && number < Double.POSITIVE_INFINITY) {
                return number;
            }
        } catch (NumberFormatException _) {
            // refused below
        }
        throw refused(layout, model, "it has \"" + text + '"');
    }

    private static UsageException refused(String layout, ModelSpec model, String why) {
        List<String> letters = model.layers().stream().map(layer -> layer.letter() + "=1").distinct().toList();
        return new UsageException("parallel.layout = \"" + layout + "\": expected a cost of 0 or more for each of the "
                + model.layers().size() + " layers, or for each letter as in costs(" + String.join(", ", letters)
                + "), but " + why);
    }
}
