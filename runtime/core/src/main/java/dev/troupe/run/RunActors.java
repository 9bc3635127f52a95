package dev.troupe.run;

import dev.troupe.run.actor.TrainingCoordinator;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * The actors of a run in one JVM: an actor system of the run's own, or some actors in the system of a program.
 *
 * <p>Thread rule: any thread.
 */
public interface RunActors {
    /** Returns the actors of a system that ends with its run. */
    static RunActors own(ActorSystem<TrainingCoordinator.Command> system) {
        return new RunActors() {
            @Override
            public void tell(TrainingCoordinator.Command command) {
                system.tell(command);
            }

            @Override
            public void end() {
                system.terminate();
            }

            @Override
            public CompletableFuture<Done> whenEnded() {
                return system.getWhenTerminated().toCompletableFuture();
            }

            @Override
            public void beforeEnd(Runnable task) {
                // A stage that hangs holds up the end of the actor system, but not the end of its node.
                CoordinatedShutdown.get(system).addTask(CoordinatedShutdown.PhaseActorSystemTerminate(),
                        "troupe-outcome",
                        () -> CompletableFuture.runAsync(task).thenApply(_ -> Done.getInstance()));
            }
        };
    }

    /** Sends a message to the coordinator. */
    void tell(TrainingCoordinator.Command command);

    /** Ends the actors; a second call has no effect. */
    void end();

    CompletableFuture<Done> whenEnded();

    /** Runs a task once the node has released all it can, before the last actor ends. */
    void beforeEnd(Runnable task);
}
