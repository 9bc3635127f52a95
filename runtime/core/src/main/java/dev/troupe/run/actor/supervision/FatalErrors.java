package dev.troupe.run.actor.supervision;

import dev.troupe.plan.error.ActorError;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.BehaviorInterceptor;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * The conversion of errors that Pekko treats as fatal, such as a missing class, into a failure of the actor that met them.
 * Otherwise neither the actor nor its system would end, and in a system of a program Pekko would end the whole process.
 * Thread rule: the actor's.
 */
public final class FatalErrors<T> extends BehaviorInterceptor<T, T> {
    private FatalErrors(Class<T> messages) {
        super(messages);
    }

    /** Returns a behavior that fails with an {@link ActorError} if the given one would throw an error. */
    public static <T> Behavior<T> contained(Class<T> messages, Behavior<T> behavior) {
        return Behaviors.intercept(() -> new FatalErrors<>(messages), behavior);
    }

    @Override
    public Behavior<T> aroundStart(TypedActorContext<T> context, PreStartTarget<T> target) {
        try {
            return target.start(context);
        } catch (Error error) {
            throw new ActorError(error);
        }
    }

    @Override
    public Behavior<T> aroundReceive(TypedActorContext<T> context, T message, ReceiveTarget<T> target) {
        try {
            return target.apply(context, message);
        } catch (Error error) {
            throw new ActorError(error);
        }
    }

    @Override
    public Behavior<T> aroundSignal(TypedActorContext<T> context, Signal signal, SignalTarget<T> target) {
        try {
            return target.apply(context, signal);
        } catch (Error error) {
            throw new ActorError(error);
        }
    }

    @Override
    public boolean isSame(BehaviorInterceptor<Object, Object> other) {
        return other instanceof FatalErrors<?>;
    }
}
