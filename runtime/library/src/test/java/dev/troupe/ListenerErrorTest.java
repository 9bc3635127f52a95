package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.look.observe.Observation;
import dev.troupe.run.news.RunNews;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An exception of a program's code is the cause of the run's failure, and harms nothing else. */
@Tag("runtime")
@Timeout(60)
class ListenerErrorTest extends RunsInThisJvm {
    /** The calls of a listener. */
    enum Call {
        START, STEP, VALIDATION, EVENT
    }

    static Stream<Throwable> thrown() {
        return Stream.of(new NoClassDefFoundError("com/example/Tickets"), new AssertionError("the loss is 5.5"),
                new StackOverflowError(), new OutOfMemoryError("told to"), new NullPointerException(),
                new IllegalStateException("our database is away"), new ThreadDeathOfOurs(), new WithoutWords(),
                causeOfItsCause());
    }

    /** An exception with a message that cannot be made. */
    private static final class WithoutWords extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("the words are away");
        }
    }

    private static Throwable causeOfItsCause() {
        RuntimeException first = new RuntimeException("first");
        first.initCause(new RuntimeException("second", first));
        return first;
    }

    /** An error of a program's own. */
    private static final class ThreadDeathOfOurs extends VirtualMachineError {
        private static final long serialVersionUID = 1;
    }

    @ParameterizedTest
    @MethodSource("thrown")
    void shouldBeTheCauseInASystemOfTheRun(Throwable thrown) {
        RunFailedException failed = assertThrows(RunFailedException.class,
                () -> Troupe.train(spec().build(), TrainingData.ofText(SmallTraining.TEXT),
                        listener(Call.STEP, thrown)));
        assertSame(thrown, failed.getCause());
        assertTrue(failed.getMessage().startsWith(thrown.getClass().getSimpleName()), failed.getMessage());
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    void shouldBeTheCauseInAnyCallInASystemOfTheProgram(Call call) throws InterruptedException {
        ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), "app");
        try {
            NoClassDefFoundError thrown = new NoClassDefFoundError("com/example/Tickets");
            TrainingHandle handle = Troupe.start(spec().build(), TrainingData.ofText(SmallTraining.TEXT),
                    listener(call, thrown), system);
            assertSame(thrown, assertThrows(RunFailedException.class, handle::await).getCause());
            assertFalse(system.getWhenTerminated().toCompletableFuture().isDone());
            TrainingHandle next = Troupe.start(SmallTraining.spec(home.resolve("next")).build(),
                    TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE, system);
            assertEquals(4, next.await().stepsDone());
        } finally {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
        }
    }

    @Test
    void shouldBeTheCauseIfAListenerAlsoThrowsAtTheEnd() {
        Error thrown = new NoClassDefFoundError("com/example/Tickets");
        assertSame(thrown, assertThrows(RunFailedException.class, () -> Troupe.train(
                spec().set("faults", "exception stage=1 step=1 at=B").build(),
                TrainingData.ofText(SmallTraining.TEXT), new TrainingListener() {
                    @Override
                    public void onStep(TrainingStep step) {
                        // the events throw
                    }

                    @Override
                    public void onEvent(TrainingEvent event) {
                        throw thrown;
                    }
                })).getCause());
    }

    /** The wait would never end. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldBeRefusedIfAListenerWaitsForItsRun(boolean closes) {
        RunFailedException failed = assertThrows(RunFailedException.class, () -> Troupe.train(spec().build(),
                TrainingData.ofText(SmallTraining.TEXT), new TrainingListener() {
                    private TrainingHandle handle;

                    @Override
                    public void onStart(TrainingHandle started) {
                        handle = started;
                    }

                    @Override
                    public void onStep(TrainingStep step) {
                        if (closes) {
                            handle.close();
                        }
                        try {
                            handle.await();
                        } catch (InterruptedException interrupted) {
                            throw new IllegalStateException(interrupted);
                        }
                    }
                }));
        assertTrue(failed.getMessage().contains("a listener must not wait for the end of its run"),
                failed.getMessage());
    }

    @Test
    void shouldBeTheCauseIfAnEngineLacksAClass() {
        RunFailedException failed = assertThrows(RunFailedException.class,
                () -> Troupe.train(spec().engine(BrokenEngineProvider.KIND).build(),
                        TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE));
        assertSame(BrokenEngineProvider.THROWN, failed.getCause());
        assertTrue(failed.getMessage().contains("NoClassDefFoundError: com/example/Kernels"), failed.getMessage());
    }

    /** An observer that fails is not called any more. */
    @Test
    void shouldContinueWithoutAnObserverThatThrowsAnError() throws InterruptedException {
        Observation broken = new Observation() {
            @Override
            public void on(RunNews news) {
                throw new NoClassDefFoundError("io/micrometer/Meter");
            }

            @Override
            public void close() {
                throw new NoClassDefFoundError("io/micrometer/Meter");
            }
        };
        assertEquals(4, Troupe.train(spec().observer(_ -> broken).observer(_ -> {
            throw new StackOverflowError();
        }).build(), TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE).stepsDone());
    }

    private TrainingSpec.Builder spec() {
        return SmallTraining.spec(home.resolve("run")).set("training.checkpoint-every", 2)
                .set("data.validation-fraction", 0.2).set("training.validate-every", 2);
    }

    private static TrainingListener listener(Call thrower, Throwable thrown) {
        return new TrainingListener() {
            @Override
            public void onStart(TrainingHandle handle) {
                throwIf(Call.START);
            }

            @Override
            public void onStep(TrainingStep step) {
                throwIf(Call.STEP);
            }

            @Override
            public void onValidation(long stepsDone, double loss) {
                throwIf(Call.VALIDATION);
            }

            @Override
            public void onEvent(TrainingEvent event) {
                throwIf(Call.EVENT);
            }

            private void throwIf(Call call) {
                if (call == thrower) {
                    ListenerErrorTest.<RuntimeException>rethrow(thrown);
                }
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void rethrow(Throwable thrown) throws E {
        throw (E) Optional.of(thrown).orElseThrow();
    }
}
