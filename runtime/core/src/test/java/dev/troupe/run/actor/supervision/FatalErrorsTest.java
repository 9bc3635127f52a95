package dev.troupe.run.actor.supervision;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.typesafe.config.ConfigFactory;
import dev.troupe.plan.error.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In a system with settings by which Pekko ends the process at a fatal error, as in a program. */
@Tag("actor")
@Timeout(30)
class FatalErrorsTest {
    private static final ActorTestKit KIT = ActorTestKit
            .create(ConfigFactory.parseString("pekko.jvm-exit-on-fatal-error = on").withFallback(ConfigFactory.load()));

    @AfterAll
    static void shutDown() {
        KIT.shutdownTestKit();
    }

    @ParameterizedTest
    @ValueSource(strings = {"start", "message"})
    void shouldBeAFailureOfTheActorThatItsParentReceives(String where) throws Exception {
        Error error = new NoClassDefFoundError("com/example/Missing");
        CompletableFuture<Throwable> heard = new CompletableFuture<>();
        KIT.spawn(Behaviors.<String>setup(context -> {
            ActorRef<String> child = context.spawn(FatalErrors.contained(String.class, thrower(where, error)), "child");
            context.watch(child);
            child.tell("message");
            return Behaviors.receive(String.class).onSignal(ChildFailed.class, failed -> {
                heard.complete(failed.getCause());
                return Behaviors.stopped();
            }).build();
        }));
        Throwable cause = heard.get(20, TimeUnit.SECONDS);
        assertSame(error, Reason.met(cause));
        assertEquals("NoClassDefFoundError: com/example/Missing", Reason.of(cause));
        assertFalse(KIT.system().whenTerminated().isCompleted());
    }

    private static Behavior<String> thrower(String where, Error error) {
        return Behaviors.setup(_ -> {
            throwAt("start", where, error);
            return Behaviors.receive(String.class).onAnyMessage(_ -> {
                throwAt("message", where, error);
                return Behaviors.same();
            }).build();
        });
    }

    private static void throwAt(String here, String where, Error error) {
        if (here.equals(where)) {
            throw error;
        }
    }
}
