package dev.troupe.step;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/**
 * What the stages of a rank need of the rank around them. A rank that has no use for what a stage only tells leaves it.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface RankSide {
    /** The rank's number. */
    int rank();

    /**
     * Reads a microbatch of the rank's pipeline for a stage; the rows hold until the next is read.
     *
     * @param pass with the microbatch's own step
     * @param microbatch its number in that step
     */
    MicrobatchRows read(int stage, Pass pass, int microbatch);

    /**
     * The tokens of each sequence of a microbatch of the rank's pipeline, which all of its tensors have: known before
     * anything of it is read, and the same whenever it is asked. Arguments as for {@link #read}.
     */
    int lengthOf(Pass pass, int microbatch);

    /**
     * Takes what has landed for a receive, or what another stage of this rank has put there.
     *
     * @param rows the rows that it must have; its buffer may have more
     * @throws RuntimeException if it has another number of rows
     */
    Tensor take(Action receive, Pass pass, int rows);

    /** Puts what a stage made where {@link #send}, or for a receive of this rank {@link #take}, finds it. */
    void put(Action message, Pass pass, Tensor tensor);

    /** Hands what was put for a send to the transport. */
    void send(Action send, Pass pass);

    /** Gives the transport a buffer for one message of the edge of a receive. */
    void grant(Action receive, Tensor buffer);

    /** Gives a tensor that another stage of this rank made back to that stage. */
    void release(int stage, Tensor tensor);

    /** A stage is about to make a tensor for this send. */
    default void makes(Action send) {
    }

    /** The events of a stage from now on are of this step among those of the row. */
    default void enters(int stepInRow) {
    }

    /** A stage is about to use what another rank has sent it for a receive. */
    default void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
    }

    /** The stage with the head had this loss of a microbatch of the row. */
    default void measuredLoss(Stage stage, int microbatch, double loss) {
    }

    /** The gradients of a stage are final; the pass is that of their step. */
    default void measured(Stage stage, Pass pass) {
    }

    /** A stage has the weights after a step, and others follow in the row. */
    default void updated(Stage stage) {
    }

    /**
     * A stage has the weights after the step of this pass, the last of the row: what it starts again from is to be kept.
     */
    default void keep(Stage stage, Pass pass) {
    }
}
