package dev.troupe.plan.step;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.BoundaryTensors;
import dev.troupe.stage.Stage;

/**
 * The interface of a rank for its stages: microbatches, and the tensors from and to other stages. Thread rule: the rank's
 * thread.
 */
public interface RankSide {
    int rank();

    /**
     * Reads a microbatch of the rank's pipeline for a stage; the rows are valid until the next call.
     *
     * @param pass the pass of the microbatch's own step
     */
    MicrobatchRows read(int stage, Pass pass, int microbatch);

    /**
     * Returns the tokens of each sequence of a microbatch, and so the length of all its tensors. It is known before the rows
     * are read, and never changes. Arguments as for {@link #read}.
     */
    int lengthOf(Pass pass, int microbatch);

    /**
     * Takes the tensor of a receive, from another rank or from another stage of this rank.
     *
     * @param rows the rows that it must have; its buffer may have more
     * @throws RuntimeException if it has another number of rows
     */
    Tensor take(Action receive, Pass pass, int rows);

    /** Stores a tensor of a stage, for {@link #send}, or for {@link #take} by another stage of this rank. */
    void put(Action message, Pass pass, Tensor tensor);

    /** Hands the stored tensor of a send to the transport. */
    void send(Action send, Pass pass);

    /** Gives the transport a buffer for one message of the edge of a receive. */
    void grant(Action receive, Tensor buffer);

    /** Makes a stage {@linkplain BoundaryTensors#adopt adopt} a boundary tensor that another stage of this rank made. */
    void adopt(Stage by, int from, Tensor tensor);

    /** Returns a tensor to the stage of this rank that made it. */
    void release(int stage, Tensor tensor);
}
