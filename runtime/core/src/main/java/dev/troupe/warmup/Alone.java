package dev.troupe.warmup;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.stage.Stage;
import dev.troupe.schedule.Action;
import dev.troupe.step.RankSide;

/**
 * What a stage that warms up has around it: whatever it waits for is there, with any content, and whatever it hands on is
 * taken.
 *
 * @param rank
 *            the rank that warms up
 * @param stage
 *            the only stage it has
 * @param rows
 *            token ids of a microbatch
 */
record Alone(int rank, Stage stage, int[] tokens) implements RankSide {
    Alone(int rank, Stage stage, int rows) {
        this(rank, stage, new int[rows]);
    }

    @Override
    public void read(Pass pass, int microbatch) {
        // All ids are zero.
    }

    @Override
    public int[] targets() {
        return tokens;
    }

    @Override
    public Tensor take(Action receive, Pass pass) {
        return receive.kind().isTransfer() ? stage.takeBoundary() : stage.tied().takeGradient();
    }

    @Override
    public void put(Action message, Pass pass, Tensor tensor) {
        stage.release(tensor);
    }

    @Override
    public void send(Action send, Pass pass) {
        // It was given back already.
    }

    @Override
    public void grant(Action receive, Tensor buffer) {
        stage.release(buffer);
    }

    @Override
    public void release(int other, Tensor tensor) {
        stage.release(tensor);
    }
}
