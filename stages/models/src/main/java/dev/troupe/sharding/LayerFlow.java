package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.parallel.LayerMoves;
import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.ShardingMove;
import java.util.ArrayList;
import java.util.List;

/** The tensor that flows through a layer, from the residual stream and back, with its type after each line of a plan. */
abstract class LayerFlow {
    protected enum Phase {
        /** Before the layer's input is moved or read: norms. */
        STREAM,
        /** Matrices out of the stream. */
        INPUT,
        /** A result is there, and may get further addends. */
        RESULT,
        /** The result was moved. */
        LEFT
    }

    protected final LayerSpec layer;
    protected final LayerPlan plan;
    protected final ShardType stream;
    private final boolean isEmbedding;
    private final boolean isHead;
    protected final List<PlanLine.Moved> moves = new ArrayList<>();
    protected Phase phase = Phase.STREAM;
    /** The stream, normed or not, and then the input of matrices. */
    protected ShardType input;
    /** The output of the matrices out of the stream; null before them. */
    protected ShardType inner;
    /** The result; null before it. */
    protected ShardType result;
    protected ShardType onExperts = ShardingRules.ON_ITS_BATCH;
    private ShardingMove enter;
    private ShardingMove leave;
    /** The first line with types that fit, but that no layer computes; null if there is none. */
    private String beyondLayers;
    private int lineBeyondLayers;

    /** @param stream the type of the residual stream */
    protected LayerFlow(LayerSpec layer, LayerPlan plan, ShardType stream) {
        this.layer = layer;
        this.plan = plan;
        this.stream = stream;
        this.isEmbedding = layer.letter() == 'E';
        this.isHead = layer.letter() == 'L';
        this.input = isEmbedding ? null : stream;
    }

    protected final void end() {
        int last = plan.lines().getLast().line();
        if (!onExperts.equals(ShardingRules.ON_ITS_BATCH)) {
            throw new ShardingException(last, "the results of experts end on the ranks of the experts: add \"move "
                    + onExperts.text() + " -> " + ShardingRules.ON_ITS_BATCH.text() + " on expert\" after them");
        }
        ShardType expected = isHead ? ShardType.INVARIANT : stream;
        if (!result.equals(expected)) {
            throw new ShardingException(last, "layer " + layer.name() + " ends with a result that is " + result.text()
                    + ", but " + (isHead ? "the loss" : "the residual stream") + " is " + expected.text()
                    + ": add \"move " + result.text() + " -> " + expected.text() + "\"");
        }
        if (beyondLayers != null) {
            throw new ShardingException(lineBeyondLayers, beyondLayers);
        }
        boolean isWhole = isWhole();
        LayerMoves executed = LayerMoves.of(stream.equals(ShardType.ROWS), isWhole);
        requireExecuted(isEmbedding ? executed.enter() : enter == null ? new ShardingMove(stream, stream) : enter,
                executed.enter());
        if (!isHead) {
            requireExecuted(leave == null ? new ShardingMove(stream, stream) : leave, executed.leave());
        }
    }

    private void requireExecuted(ShardingMove found, ShardingMove executed) {
        if (!found.equals(executed)) {
            throw new ShardingException(plan.line(),
                    "the types of layer " + layer.name() + " fit, but no layer computes"
                            + " with the move " + found.text() + " here: write " + executed.text());
        }
    }

    protected final boolean isWhole() {
        return isHead || isEmbedding
                ? inner.equals(ShardType.INVARIANT)
                : enter == null || enter.to().equals(ShardType.INVARIANT);
    }

    protected final void move(PlanLine.Moved moved) {
        ShardingMove move = moved.move();
        if (move.legal().isEmpty() || move.from().equals(move.to())) {
            throw refusal(moved, "there is no move " + move.text());
        }
        if (moved.axis() == MeshAxis.EXPERT) {
            requireFrom(moved, onExperts, "rows on the axis expert are ");
            if (!(move.to().equals(ShardingRules.ON_EXPERTS) || move.to().equals(ShardingRules.ON_ITS_BATCH))) {
                throw refusal(moved, "on the axis expert rows are cut by batch or by experts");
            }
            onExperts = move.to();
        } else if (moved.axis() == MeshAxis.DATA) {
            throw refusal(moved, "no layer moves tensors on the axis data");
        } else if (phase == Phase.STREAM && !isEmbedding) {
            requireFrom(moved, input, "the residual stream is ");
            input = move.to();
            enter = move;
            phase = Phase.INPUT;
        } else if (phase == Phase.RESULT) {
            requireFrom(moved, result, "the result is ");
            result = move.to();
            leave = move;
            phase = Phase.LEFT;
        } else if (phase == Phase.LEFT) {
            throw refusal(moved, "the result was moved already and is " + result.text()
                    + (move.from().equals(ShardType.PARTIAL) ? ", so it would be reduced twice" : "")
                    + ": leave one move");
        } else {
            throw refusal(moved, inner == null
                    ? "the input is " + (input == null ? "no tensor yet" : input.text()) + " already: leave one move"
                    : "no layer moves tensors between its matrices");
        }
        moves.add(moved);
    }

    private void requireFrom(PlanLine.Moved moved, ShardType found, String subject) {
        if (!moved.move().from().equals(found)) {
            throw refusal(moved, "the move begins with a tensor that is " + moved.move().from().text() + ", but "
                    + subject + found.text() + " here");
        }
    }

    protected final ShardingException refusal(PlanLine line, String sentence) {
        return new ShardingException(line.line(), sentence + " (" + line.text() + ", layer " + layer.name() + ")");
    }

    protected final void setInner(PlanLine.Weight line, ShardType output) {
        if (inner != null && inner instanceof ShardType.Cut != output instanceof ShardType.Cut) {
            throw refusal(line,
                    "its output is " + output.text() + ", but the output of the matrix before is " + inner.text()
                            + ", and both are combined element by element");
        }
        inner = output;
    }

    protected final void setResult(PlanLine.Weight line, ShardType output) {
        if (result != null && !result.equals(output)) {
            throw refusal(line, "its output is " + output.text() + ", and is added to a result that is " + result.text()
                    + ": one of them would be added once for each rank");
        }
        result = output;
        phase = Phase.RESULT;
    }

    protected final void beyondLayers(PlanLine line, String sentence) {
        if (beyondLayers == null) {
            lineBeyondLayers = line.line();
            beyondLayers = sentence + " (" + line.text() + ", layer " + layer.name() + ")";
        }
    }
}
