package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.Optional;

/**
 * What the actions of a row mean, a method for each kind of work. An engine computes them, one that counts bytes makes the
 * memory plan of them, and a simulation hashes.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface StepOps {
    /** F, B, I, W or RECOMPUTE; of validation data the last forward with the head tells the losses. */
    ActionResult compute(Action action, Pass pass);

    /** SEND_F or SEND_B: hands on what the stage made. */
    void send(Action send, Pass pass);

    /** Brings the weights of the stage's layers from the ranks that share them out. */
    void unshard(Action action);

    /** Lets go of them. */
    void reshard(Action action);

    /** Adds up gradients over the ranks that hold the same weights. */
    void reduceGradients(Action action);

    /** Sends the stage's gradient of a parameter that another stage has too. */
    void sendShared(Action send, Pass pass);

    /** Adds the other stage's gradient of it. */
    void addShared(Action receive, Pass pass);

    /** Adds up the squares of the stage's gradients, which are final, and tells the losses of the step with the head. */
    ActionResult norm(Action action, Pass pass);

    /** Steps the optimizer, and clears the gradients. */
    void update(Action action, WeightUpdate update);

    /** Keeps what the stage starts again from after the step. */
    void snapshot(Action action, Pass pass);

    /**
     * Does an action.
     *
     * @param decided what was decided of the step; there from its updates on
     */
    default ActionResult perform(Action action, Pass pass, Optional<WeightUpdate> decided) {
        switch (action.kind()) {
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, RECOMPUTE -> {
                return compute(action, pass);
            }
            case NORM -> {
                return norm(action, pass);
            }
            case SEND_F, SEND_B -> send(action, pass);
            case UNSHARD -> unshard(action);
            case RESHARD -> reshard(action);
            case REDUCE_GRAD -> reduceGradients(action);
            case SEND_SHARED -> sendShared(action, pass);
            case RECV_SHARED -> addShared(action, pass);
            case UPDATE -> update(action, decided.orElseThrow());
            case SNAPSHOT -> snapshot(action, pass);
            case RECV_F, RECV_B ->
                throw new IllegalArgumentException(action + " is done once its tensor has landed: nobody does it");
        }
        return ActionResult.NOTHING;
    }
}
