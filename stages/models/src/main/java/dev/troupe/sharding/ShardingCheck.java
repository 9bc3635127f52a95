package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.SharedParameter;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.StreamSharding;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The check of a sharding plan against a model and a grid, forward and backward: each tensor has the type that its reader
 * needs, each parameter has one line, and the gradient of each replicated weight is reduced once. It states what ranks send,
 * and lowers the plan to what layers execute.
 */
public final class ShardingCheck {
    /**
     * The ranks of each axis.
     *
     * @param tensor T
     * @param data D, with the ranks of {@code expert}
     * @param expert R
     */
    public record Mesh(int tensor, int data, int expert) {
    }

    /**
     * The elements that each rank sends for a microbatch on the axis tensor in a layer, recomputation apart.
     *
     * @param layer its number in the model
     */
    public record Sent(int layer, PlanLine.Moved line, long forward, long backward) {
        public long both() {
            return forward + backward;
        }

        /** Returns whether it makes the loss from the logits of a cut vocabulary, which are not moved themselves. */
        public boolean isLoss() {
            return line.move().from().equals(LayerCheck.VOCABULARY) && line.move().to().equals(ShardType.INVARIANT);
        }
    }

    /**
     * A plan that was found right.
     *
     * @param sharding what layers execute
     * @param sent of each move
     */
    public record Result(StreamSharding sharding, List<Sent> sent) {
        public Result {
            sent = List.copyOf(sent);
        }

        /** Returns the elements that each rank sends for a microbatch on the axis tensor. */
        public long elements() {
            return sent.stream().mapToLong(Sent::both).sum();
        }
    }

    private final ModelSpec model;
    private final ShardingPlan plan;
    private final Mesh mesh;
    private final long rows;

    private ShardingCheck(ModelSpec model, ShardingPlan plan, Mesh mesh, long rows) {
        this.model = model;
        this.plan = plan;
        this.mesh = mesh;
        this.rows = rows;
    }

    /**
     * Checks a plan.
     *
     * @param rows N, of a microbatch
     * @throws ShardingException with the line at fault
     */
    public static Result of(ModelSpec model, ShardingPlan plan, Mesh mesh, long rows) {
        return new ShardingCheck(model, plan, mesh, rows).result();
    }

    private Result result() {
        requireCommon();
        requireNames();
        ShardType stream = stream();
        Set<Integer> whole = new HashSet<>();
        List<Sent> sent = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int number = 0; number < model.layers().size(); number++) {
            LayerSpec layer = model.layers().get(number);
            Optional<LayerPlan> found = plan.of(layer);
            if (found.isEmpty()) {
                missing.add(layer.name());
                continue; // if only the name of its plan is missing, the plan before has lines of no parameter
            }
            LayerPlan ofLayer = found.get();
            LayerCheck.Checked checked = new LayerCheck(layer, ofLayer, model.family().storesInputsFirst(), stream)
                    .check();
            if (checked.isWhole()) {
                whole.add(number);
            } else {
                requireDivisible(layer, ofLayer);
            }
            requireExperts(layer, ofLayer, checked);
            for (PlanLine.Moved moved : checked.moves()) {
                sent.add(sent(number, layer, moved));
            }
        }
        if (!missing.isEmpty()) {
            throw new ShardingException(0, "there is no plan of layer " + ShardingText.listed(missing)
                    + ": each layer needs one");
        }
        requireTied(whole);
        return new Result(new StreamSharding(stream.equals(ShardType.ROWS), whole), sent);
    }

    /** Checks the lines on the axis of ranks with other microbatches. */
    private void requireCommon() {
        Set<String> seen = new HashSet<>();
        for (PlanLine line : plan.common()) {
            if (!(line instanceof PlanLine.Weight weight)) {
                throw new ShardingException(line.line(), "a move belongs to a layer: write \"layer NAME\" before");
            }
            boolean isBatch = weight.name().equals(ShardingRules.BATCH);
            if (!isBatch && !weight.name().equals(LayerCheck.WEIGHTS)) {
                throw new ShardingException(line.line(),
                        "before the first layer are only lines on batch and weights, but"
                                + " found " + weight.name() + "; the nearest is "
                                + Nearest.of(weight.name(), List.of(ShardingRules.BATCH, LayerCheck.WEIGHTS)));
            }
            if (!seen.add(weight.name())) {
                throw new ShardingException(line.line(), weight.name() + " has a line already: leave one");
            }
            ShardType expected = isBatch ? ShardingRules.ON_ITS_BATCH : ShardType.REPLICATED;
            if (weight.types().size() != 1 || !expected.equals(weight.types().get(MeshAxis.DATA)) || weight.isFirst()
                    || weight.isSummed() == isBatch) {
                throw new ShardingException(line.line(), isBatch
                        ? "each data rank has its own microbatches: write batch cut batch on data"
                        : "the gradient of every weight is a partial sum over data ranks, which each have the weights:"
                                + " write weights replicated on data, sum");
            }
        }
        if (mesh.data() > 1 && seen.size() < 2) {
            throw new ShardingException(0, "with parallel.data = " + mesh.data()
                    + " a plan cuts the batch, and sums the"
                    + " gradients of weights: write \"batch cut batch on data\" and \"weights replicated on data, sum\""
                    + " before the first layer, or the rule \"batch -> data\"");
        }
    }

    /** Requires that each plan is of a layer, and no layer has two. */
    private void requireNames() {
        List<String> names = model.layers().stream().map(LayerSpec::name).toList();
        for (LayerPlan one : plan.layers()) {
            if (names.stream().noneMatch(one::isOf)) {
                throw new ShardingException(one.line(), "there is no layer " + one.layers() + "; the nearest name is "
                        + Nearest.of(one.layers(),
                                names.stream().map(name -> name.replaceAll("\\.\\d+\\.", ".*.")).toList()));
            }
            if (one.lines().isEmpty()) {
                throw new ShardingException(one.line(), "layer " + one.layers() + " has no lines");
            }
        }
        for (String name : names) {
            List<LayerPlan> its = plan.layers().stream().filter(one -> one.isOf(name)).toList();
            if (its.size() > 1) {
                throw new ShardingException(its.getLast().line(), "layer " + name + " has " + its.size()
                        + " plans: leave one");
            }
        }
    }

    /** Returns the type of the residual stream, by the plan of the layer that makes it. */
    private ShardType stream() {
        return plan.of(model.layers().getFirst()).map(LayerPlan::lines).orElse(List.of()).reversed().stream()
                .filter(line -> line instanceof PlanLine.Moved moved && moved.axis() == MeshAxis.TENSOR)
                .map(line -> ((PlanLine.Moved) line).move().to())
                .filter(type -> type.equals(ShardType.ROWS)).findFirst().orElse(ShardType.INVARIANT);
    }

    private void requireDivisible(LayerSpec layer, LayerPlan ofLayer) {
        for (PlanLine line : ofLayer.lines()) {
            if (line instanceof PlanLine.Weight weight
                    && weight.types().get(MeshAxis.TENSOR) instanceof ShardType.Cut(String dimension)) {
                switch (dimension) {
                    case "attended", "query-key-value" -> requireDivisible(weight, layer, Axis.HEADS, "heads");
                    case "key-value" -> requireDivisible(weight, layer, Axis.KEY_VALUE_HEADS,
                            "heads with keys and values");
                    case "inner" -> requireDivisible(weight, layer, Axis.INNER, "inner width");
                    case "expert-inner" -> requireDivisible(weight, layer, Axis.EXPERT_INNER, "inner width of experts");
                    case "shared-inner" -> requireDivisible(weight, layer, Axis.SHARED_INNER,
                            "inner width of shared experts");
                    default -> {
                        // The vocabulary need not divide.
                    }
                }
            }
        }
    }

    private void requireDivisible(PlanLine.Weight line, LayerSpec layer, Axis axis, String subject) {
        if (model.has(axis) && model.size(axis) % mesh.tensor() != 0) {
            throw new ShardingException(line.line(), "parallel.tensor = " + mesh.tensor() + " does not divide the "
                    + subject + ", " + model.size(axis) + " (" + line.text() + ", layer "
                    + layer.name() + "): change one, or leave the layer whole");
        }
    }

    private void requireExperts(LayerSpec layer, LayerPlan ofLayer, LayerCheck.Checked checked) {
        if (!layer.hasExperts()) {
            return;
        }
        if (mesh.expert() > 1 && !checked.dividesExperts()) {
            throw new ShardingException(ofLayer.line(),
                    "parallel.expert = " + mesh.expert() + " ranks divide the experts"
                            + " of layer " + layer.name()
                            + ", but the plan has them on every rank: cut experts on expert, or"
                            + " set parallel.expert = 1");
        }
        if (mesh.tensor() > 1 && checked.isWhole()) {
            throw new ShardingException(ofLayer.line(), "with parallel.tensor = " + mesh.tensor() + " a layer with"
                    + " experts is divided, but the plan has layer " + layer.name() + " whole on every rank: cut"
                    + " expert-inner");
        }
    }

    /** Requires that a table with two homes is cut in both or in none. */
    private void requireTied(Set<Integer> whole) {
        for (SharedParameter shared : model.shared()) {
            if (shared.layers().stream().map(whole::contains).distinct().count() > 1) {
                LayerSpec last = model.layers().get(shared.layers().getLast());
                throw new ShardingException(plan.of(last).orElseThrow().line(), shared.parameter().name()
                        + " is cut in one layer and whole in another, but it is one parameter: write the same type");
            }
        }
    }

    private Sent sent(int number, LayerSpec layer, PlanLine.Moved moved) {
        if (moved.axis() != MeshAxis.TENSOR) {
            return new Sent(number, moved, 0, 0);
        }
        // The loss of a cut vocabulary: three numbers a row are reduced, one after another, and nothing backward.
        Sent loss = new Sent(number, moved, 3 * (2 * rows * (mesh.tensor() - 1) / mesh.tensor()), 0);
        if (layer.letter() == 'L' && loss.isLoss()) {
            return loss;
        }
        long elements = Math.multiplyExact(rows, model.size(Axis.HIDDEN));
        return new Sent(number, moved, moved.move().sentElements(elements, mesh.tensor()),
                moved.move().dual().sentElements(elements, mesh.tensor()));
    }
}
