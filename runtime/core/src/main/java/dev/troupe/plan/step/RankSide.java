package dev.troupe.plan.step;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/**
 * The rank as its stages need it: microbatches, and the tensors from and to other stages.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface RankSide {
    int rank();

    /**
     * Reads a microbatch of the rank's pipeline for a stage; the rows are valid until the next is read.
     *
     * @param pass with the microbatch's own step
     * @param microbatch its number in that step
     */
    MicrobatchRows read(int stage, Pass pass, int microbatch);

    /**
     * The tokens of each sequence of a microbatch of the rank's pipeline, which is the length of all of its tensors: known
     * before its rows are read, and always the same. Arguments as for {@link #read}.
     */
    int lengthOf(Pass pass, int microbatch);

    /**
     * Takes the tensor that has landed for a receive, or that another stage of this rank has put there.
     *
     * @param rows the rows that it must have; its buffer may have more
     * @throws RuntimeException if it has another number of rows
     */
    Tensor take(Action receive, Pass pass, int rows);

    /** Puts the tensor of a stage where {@link #send}, or for a receive of this rank {@link #take}, finds it. */
    void put(Action message, Pass pass, Tensor tensor);

    /** Hands the tensor that was put for a send to the transport. */
    void send(Action send, Pass pass);

    /** Gives the transport a buffer for one message of the edge of a receive. */
    void grant(Action receive, Tensor buffer);

    /** Has a stage {@linkplain Stage#adopt adopt} a boundary tensor that another stage of this rank made. */
    void adopt(Stage by, int from, Tensor tensor);

    /** Gives a tensor that another stage of this rank made back to that stage. */
    void release(int stage, Tensor tensor);
}
