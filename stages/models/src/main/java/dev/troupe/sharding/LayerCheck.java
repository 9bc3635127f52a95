package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.NamedShape;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import dev.troupe.parallel.ShardType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The check of one layer's plan, line by line: the type of the tensor that flows through the layer, the type of each
 * gradient, and the moves that remain for the layer to execute.
 */
final class LayerCheck extends LayerFlow {
    static final String WEIGHTS = "weights";
    static final ShardType VOCABULARY = new ShardType.Cut("vocabulary");

    private final boolean inputsFirst;
    private final Map<String, Integer> seen = new HashMap<>();
    private boolean dividesExperts;

    /** @param inputsFirst whether matrices are stored [inputs x outputs] */
    LayerCheck(LayerSpec layer, LayerPlan plan, boolean inputsFirst, ShardType stream) {
        super(layer, plan, stream);
        this.inputsFirst = inputsFirst;
    }

    /**
     * A layer's plan that was found right.
     *
     * @param isWhole whether each rank computes the layer whole
     */
    record Checked(boolean isWhole, boolean dividesExperts, List<PlanLine.Moved> moves) {
    }

    /** @throws ShardingException with the line at fault */
    Checked check() {
        for (PlanLine line : plan.lines()) {
            switch (line) {
                case PlanLine.Moved moved -> move(moved);
                case PlanLine.Weight weight -> parametersOf(weight).forEach(one -> weight(weight, one));
            }
        }
        List<String> missing = layer.parameters().stream().map(ParameterSpec::name)
                .filter(name -> !seen.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw new ShardingException(plan.line(), "the plan of layer " + layer.name() + " has no line for "
                    + ShardingText.listed(missing.subList(0, Math.min(3, missing.size())))
                    + ": each parameter needs one");
        }
        end();
        return new Checked(isWhole(), dividesExperts, List.copyOf(moves));
    }

    private List<ParameterSpec> parametersOf(PlanLine.Weight weight) {
        Pattern pattern = LayerPlan.parameters(weight.name());
        List<ParameterSpec> found = layer.parameters().stream()
                .filter(one -> pattern.matcher(one.name()).matches()).toList();
        if (found.isEmpty()) {
            List<String> names = layer.parameters().stream().map(one -> one.name().replaceAll("\\.\\d+\\.", ".*."))
                    .toList();
            throw refusal(weight, "there is no parameter " + weight.name() + "; the nearest name is "
                    + Nearest.of(weight.name(), names));
        }
        if (found.size() > 1 && !found.stream().allMatch(ShardingRules::isOfExpert)) {
            throw refusal(weight, weight.name() + " are several parameters of a layer: name each");
        }
        for (ParameterSpec parameter : found) {
            Integer before = seen.putIfAbsent(parameter.name(), weight.line());
            if (before != null) {
                throw refusal(weight, parameter.name() + " has a line already" + (before == 0 ? "" : ", line " + before)
                        + ": leave one");
            }
        }
        return found;
    }

    private void weight(PlanLine.Weight line, ParameterSpec parameter) {
        Role role = Role.of(parameter, layer, inputsFirst);
        requireAxes(line, parameter);
        ShardType type = line.types().get(MeshAxis.TENSOR);
        if (type instanceof ShardType.Partial || type instanceof ShardType.Varying) {
            throw refusal(line, "a parameter is replicated, invariant or cut");
        }
        if (line.isFirst() && role != Role.ADDEND) {
            throw refusal(line, "\"first\" is for addends of a partial sum");
        }
        if (phase == Phase.LEFT) {
            throw refusal(line, "the result was moved already: a part that is computed after it would be added to a sum"
                    + " that is complete, so write this line before the move");
        }
        ShardType gradient = switch (role) {
            case NORM -> norm(line, type);
            case COLUMN, COLUMN_BIAS, COLUMN_ADAPTER_UP -> column(line, parameter, type);
            case COLUMN_ADAPTER_DOWN, ROUTER -> ofInput(line, type);
            case HEAD_NORM -> headNorm(line, type);
            case CHOICE_BIAS -> ShardType.INVARIANT;
            case ROW, ROW_ADAPTER_DOWN -> row(line, parameter, type);
            case ROW_ADAPTER_UP -> ofResult(line, type);
            case ADDEND -> addend(line, type);
            case EMBEDDING -> embedding(line, parameter, type);
            case HEAD -> head(line, parameter, type);
        };
        requireReduced(line, parameter, type, gradient);
    }

    private void requireAxes(PlanLine.Weight line, ParameterSpec parameter) {
        if (!line.types().containsKey(MeshAxis.TENSOR)) {
            throw refusal(line, "a parameter needs a type on the axis tensor");
        }
        if (line.types().containsKey(MeshAxis.DATA)) {
            throw refusal(line, "all weights have one type on the axis data: write \"weights\" before the layers");
        }
        ShardType onExpert = line.types().get(MeshAxis.EXPERT);
        if (onExpert != null && !(ShardingRules.isOfExpert(parameter) && onExpert.equals(ShardingRules.ON_EXPERTS))) {
            throw refusal(line, "on the axis expert only the weights of experts are cut, along experts");
        }
        if (ShardingRules.isOfExpert(parameter)) {
            boolean isCut = onExpert != null;
            if (isCut != onExperts.equals(ShardingRules.ON_EXPERTS)) {
                throw refusal(line, isCut
                        ? "the rows of this rank's batch do not meet all experts here: write \"move "
                                + ShardingRules.ON_ITS_BATCH.text() + " -> " + ShardingRules.ON_EXPERTS.text()
                                + " on expert\" before"
                        : "rows are on the ranks of their experts here, but this matrix is on every rank: add \""
                                + ShardingRules.ON_EXPERTS.text() + " on expert\"");
            }
            dividesExperts = isCut;
        } else if (onExperts.equals(ShardingRules.ON_EXPERTS)) {
            throw refusal(line, "rows are on the ranks of their experts here, but this is no matrix of an expert: move"
                    + " them back before");
        }
    }

    private ShardType norm(PlanLine.Weight line, ShardType type) {
        requireWhole(line, type);
        if (phase != Phase.STREAM) {
            beyondLayers(line, "the types fit, but layers norm the residual stream before it is moved: write the norm"
                    + " first");
        }
        return input.equals(ShardType.INVARIANT) ? ShardType.INVARIANT : ShardType.PARTIAL;
    }

    /** Returns the gradient's type of a matrix out of the stream, or of an addend of its output. */
    private ShardType column(PlanLine.Weight line, ParameterSpec parameter, ShardType type) {
        requireInput(line);
        if (!(type instanceof ShardType.Cut(String dimension))) {
            setInner(line, input);
            if (!input.equals(ShardType.INVARIANT)) {
                beyondLayers(line, "the types fit, but layers compute whole matrices only of an invariant input: move "
                        + stream.text() + " -> invariant, or cut the matrix");
            }
            return input.equals(ShardType.INVARIANT) ? ShardType.INVARIANT : ShardType.PARTIAL;
        }
        requireDimension(line, parameter, dimension);
        if (!dimension.equals(cutDimension(parameter))) {
            throw refusal(line, "this matrix would need an input that is cut along " + dimension + ", but its input is "
                    + input.text() + ": cut it along " + cutDimension(parameter));
        }
        if (!input.equals(ShardType.REPLICATED)) {
            throw refusal(line, input.equals(ShardType.INVARIANT)
                    ? "its input is invariant, but the gradient for it is a partial sum: write \"move invariant ->"
                            + " replicated\" before, which sums it"
                    : "its input is " + input.text() + ", but outputs are of all rows: write \"move " + input.text()
                            + " -> replicated\" before");
        }
        setInner(line, type);
        return type;
    }

    private void requireInput(PlanLine.Weight line) {
        phase = phase == Phase.STREAM ? Phase.INPUT : phase;
        if (input.equals(ShardType.PARTIAL)) {
            throw refusal(line, "its input is partial");
        }
    }

    /** Returns the gradient's type of a parameter that every rank reads for its part of the layer. */
    private ShardType ofInput(PlanLine.Weight line, ShardType type) {
        requireInput(line);
        requireWhole(line, type);
        if (input instanceof ShardType.Cut) {
            throw refusal(line, "its input is " + input.text() + ", but layers read all rows: write \"move "
                    + input.text() + " -> replicated\" before");
        }
        return input.dual();
    }

    private ShardType headNorm(PlanLine.Weight line, ShardType type) {
        requireWhole(line, type);
        if (inner == null) {
            throw refusal(line, "heads are normed after the matrices that make them: write its line after theirs");
        }
        return inner.equals(ShardType.INVARIANT) ? ShardType.INVARIANT : ShardType.PARTIAL;
    }

    private ShardType row(PlanLine.Weight line, ParameterSpec parameter, ShardType type) {
        if (inner == null) {
            throw refusal(line, "a matrix into the stream is read after the matrices out of it: write its line after"
                    + " theirs");
        }
        if (type instanceof ShardType.Cut(String dimension)) {
            requireDimension(line, parameter, dimension);
            if (!dimension.equals(cutDimension(parameter))) {
                throw refusal(line, "its output would be cut along " + dimension + ", but the residual stream is "
                        + stream.text() + ": cut it along " + cutDimension(parameter));
            }
            if (!(inner instanceof ShardType.Cut)) {
                throw refusal(line, "it is cut along " + dimension + ", but its input is " + inner.text()
                        + ": cut the matrices before, or leave this one whole");
            }
            setResult(line, ShardType.PARTIAL);
            return type;
        }
        if (inner instanceof ShardType.Cut) {
            throw refusal(line, "it is whole, but its input is " + inner.text() + ": cut it along "
                    + cutDimension(parameter));
        }
        setResult(line, inner);
        return inner.equals(ShardType.INVARIANT) ? ShardType.INVARIANT : ShardType.PARTIAL;
    }

    private ShardType ofResult(PlanLine.Weight line, ShardType type) {
        requireWhole(line, type);
        if (result == null) {
            throw refusal(line, "an adapter of a matrix into the stream is read after the matrix");
        }
        return result;
    }

    private ShardType addend(PlanLine.Weight line, ShardType type) {
        requireWhole(line, type);
        if (result == null) {
            throw refusal(line, "it is added to the result of a matrix: write its line after the line of the matrix");
        }
        if (result.equals(ShardType.PARTIAL) && !line.isFirst()) {
            throw refusal(line, "it is added to a partial sum, so that every rank would add it: write \"invariant,"
                    + " first\", with which only the first rank does");
        }
        if (!result.equals(ShardType.PARTIAL) && line.isFirst()) {
            throw refusal(line, "the result is " + result.text() + ", so if only the first rank added it, others would"
                    + " lack it: leave \"first\" out");
        }
        return ShardType.INVARIANT;
    }

    private ShardType embedding(PlanLine.Weight line, ParameterSpec parameter, ShardType type) {
        inner = type;
        if (type instanceof ShardType.Cut(String dimension)) {
            requireDimension(line, parameter, dimension);
            if (!type.equals(VOCABULARY)) {
                throw refusal(line,
                        "rows of the table would be cut along " + dimension + ", but the residual stream is "
                                + stream.text() + ": cut it along vocabulary");
            }
            setResult(line, ShardType.PARTIAL);
            return type;
        }
        setResult(line, ShardType.INVARIANT);
        return ShardType.INVARIANT;
    }

    private ShardType head(PlanLine.Weight line, ParameterSpec parameter, ShardType type) {
        ShardType gradient = column(line, parameter, type);
        result = inner;
        phase = Phase.RESULT;
        return gradient;
    }

    private void requireWhole(PlanLine.Weight line, ShardType type) {
        if (type instanceof ShardType.Cut) {
            throw refusal(line, "every rank needs all of it: write replicated, sum or invariant");
        }
    }

    private void requireDimension(PlanLine.Weight line, ParameterSpec parameter, String dimension) {
        List<String> its = parameter.shape().dimensions().stream().map(NamedShape.Dimension::axis).map(Role::word)
                .toList();
        if (!its.contains(dimension)) {
            throw refusal(line, "there is no dimension " + dimension + "; " + parameter.name() + " has "
                    + ShardingText.listed(its));
        }
    }

    private static String cutDimension(ParameterSpec parameter) {
        return parameter.split() instanceof Split.Along(Axis axis, var _) ? Role.word(axis) : "none";
    }

    /** Refuses a gradient that is not summed, or summed twice. */
    private void requireReduced(PlanLine.Weight line, ParameterSpec parameter, ShardType type, ShardType gradient) {
        String subject = "the gradient of " + parameter.name();
        if (gradient.equals(ShardType.PARTIAL)) {
            if (!type.equals(ShardType.REPLICATED) || !line.isSummed()) {
                throw refusal(line, subject + " is a partial sum over the ranks here, which nothing reduces: write"
                        + " \"replicated, sum\"");
            }
        } else if (line.isSummed()) {
            throw refusal(line, subject + (gradient.equals(ShardType.INVARIANT)
                    ? " is whole on every rank, so a sum would reduce it twice"
                    : " is of each rank's own part, so a sum would add different parts") + ": leave \"sum\" out");
        } else if (type.equals(ShardType.REPLICATED)) {
            throw refusal(line, subject + " is whole on every rank, since each does the same with it: write invariant");
        } else if (!type.equals(gradient)) {
            throw refusal(line, subject + " is " + gradient.text() + ", but the parameter is " + type.text());
        }
    }
}
