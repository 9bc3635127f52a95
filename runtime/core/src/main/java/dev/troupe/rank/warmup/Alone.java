package dev.troupe.rank.warmup;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Tensor;
import dev.troupe.plan.step.RankSide;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/**
 * The side of a rank that warms up alone. Every receive succeeds at once with arbitrary content; every send is dropped.
 *
 * @param length tokens of a sequence of the run
 */
record Alone(int rank, Stage stage, int length, MicrobatchRows rows) implements RankSide {
    @Override
    public MicrobatchRows read(int ofStage, Pass pass, int microbatch) {
        return rows;
    }

    /** Returns the longest, since its kernels take longest. */
    @Override
    public int lengthOf(Pass pass, int microbatch) {
        return length;
    }

    @Override
    public Tensor take(Action receive, Pass pass, int ofRows) {
        return receive.kind().isTransfer() ? stage.boundary().take() : stage.tied().takeGradient();
    }

    @Override
    public void put(Action message, Pass pass, Tensor tensor) {
        stage.boundary().release(tensor);
    }

    @Override
    public void send(Action send, Pass pass) {
        // The tensor was given back already.
    }

    @Override
    public void grant(Action receive, Tensor buffer) {
        stage.boundary().release(buffer);
    }

    /** Does nothing: the tensor belongs to this stage. */
    @Override
    public void adopt(Stage by, int from, Tensor tensor) {
    }

    @Override
    public void release(int other, Tensor tensor) {
        stage.boundary().release(tensor);
    }
}
