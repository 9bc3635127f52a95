package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.Optional;

/**
 * The meaning of a row's actions, one method for each kind of work. An engine computes them, the memory plan counts their
 * bytes, and the simulation hashes them.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface StepOps {
    /** Does F, B, I, W or RECOMPUTE. The last forward of validation data on the stage with the head returns the losses. */
    ActionResult compute(Action action, Pass pass);

    /** Does SEND_F or SEND_B: hands on the stage's tensor. */
    void send(Action send, Pass pass);

    /** Gathers the weights of the stage's layers from the ranks that hold their shards. */
    void unshard(Action action);

    /** Frees the gathered weights. */
    void reshard(Action action);

    /** Adds up the gradients of all ranks that hold the same weights. */
    void reduceGradients(Action action);

    /** Sends the stage's gradient of a parameter that it shares with another stage. */
    void sendShared(Action send, Pass pass);

    /** Adds the other stage's gradient of a shared parameter. */
    void addShared(Action receive, Pass pass);

    /** Adds up the squares of the stage's final gradients; the stage with the head also returns the losses of the step. */
    ActionResult norm(Action action, Pass pass);

    /** Steps the optimizer, and clears the gradients. */
    void update(Action action, WeightUpdate update);

    /** Keeps the state from which the stage restarts after the step. */
    void snapshot(Action action, Pass pass);

    /**
     * Does an action.
     *
     * @param decided the decision on the step; required for an update
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
