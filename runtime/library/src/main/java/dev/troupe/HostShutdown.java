package dev.troupe;

import dev.troupe.plan.UsageException;
import java.util.List;
import org.apache.pekko.Done;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * The hook of a run into the shutdown of a program's actor system, by a signal or by {@code terminate}. The run stops after
 * its step, with a checkpoint and a model, and the system waits for it as long as two of its phases allow.
 */
final class HostShutdown {
    private HostShutdown() {
    }

    /**
     * Refuses a system that is ending or has ended.
     *
     * @throws UsageException if no run can begin in it
     */
    static void requireAlive(ActorSystem<?> system) {
        if (CoordinatedShutdown.get(system).getShutdownReason().isPresent()
                || system.getWhenTerminated().toCompletableFuture().isDone()) {
            throw new UsageException("the actor system \"" + system.name()
                    + "\" has been terminated, so no run can start in it: start the run in another system, or without one");
        }
    }

    /** Makes the shutdown of the system wait for a run. */
    static void stopFirst(ActorSystem<?> system, TrainingHandle handle) {
        List<Cancellable> tasks = List.of(task(system, CoordinatedShutdown.PhaseBeforeServiceUnbind(), handle),
                task(system, CoordinatedShutdown.PhaseServiceRequestsDone(), handle));
        handle.result().whenComplete((_, _) -> tasks.forEach(Cancellable::cancel));
    }

    private static Cancellable task(ActorSystem<?> system, String phase, TrainingHandle handle) {
        return CoordinatedShutdown.get(system).addCancellableTask(phase, "troupe-stops-" + handle.directory(), () -> {
            handle.stop();
            return handle.result().handle((_, _) -> Done.getInstance());
        });
    }
}
