package dev.troupe.actor;

import dev.troupe.engine.Tensor;
import dev.troupe.schedule.Action;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tensors of one rank that are between two stages: landed and not yet computed with, or computed and not yet handed
 * to the transport. The key is the message: the receive for what came in, the send for what goes out. Stages that share a
 * rank hand over under the key of the receive.
 *
 * <p>Thread rule: any thread.
 */
final class BoundaryTensors {
    private final Map<Action, Tensor> tensors = new ConcurrentHashMap<>();

    /** Takes in a tensor that has landed; false where the same message stands here already. */
    boolean land(Action message, Tensor tensor) {
        return tensors.putIfAbsent(message, tensor) == null;
    }

    void put(Action message, Tensor tensor) {
        if (!land(message, tensor)) {
            throw new IllegalStateException("the tensor of " + message + " stands here already");
        }
    }

    Tensor take(Action message) {
        Tensor tensor = tensors.remove(message);
        if (tensor == null) {
            throw new IllegalStateException("the tensor of " + message + " is not here");
        }
        return tensor;
    }
}
