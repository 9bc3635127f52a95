package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.plan.directory.ClaimedDirectory;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run in an application with class loaders, an actor system and a life of its own. */
@Tag("runtime")
@Timeout(60)
class ApplicationTest extends RunsInThisJvm {
    /** As the common pool's in a fat jar: the class path of the program is not visible to the thread's class loader. */
    @Test
    void shouldTrainFromAThreadWithAClassLoaderThatSeesNoLibrary() throws Exception {
        for (ClassLoader loader : new ClassLoader[]{ClassLoader.getPlatformClassLoader(), null}) {
            CompletableFuture<TrainingResult> result = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().start(() -> {
                Thread.currentThread().setContextClassLoader(loader);
                try {
                    result.complete(
                            Troupe.train(SmallTraining.spec(home.resolve("run-of-" + loader)).engine("auto").build(),
                                    TrainingData.ofText(SmallTraining.TEXT),
                                    _ -> requireClass(Thread.currentThread().getContextClassLoader())));
                    assertEquals(loader, Thread.currentThread().getContextClassLoader());
                } catch (Throwable failure) {
                    result.completeExceptionally(failure);
                }
            });
            assertEquals(4, result.get(50, TimeUnit.SECONDS).stepsDone());
            thread.join();
        }
    }

    /** A listener may look for classes of its program. */
    private static void requireClass(ClassLoader loader) {
        try {
            loader.loadClass(ApplicationTest.class.getName());
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
    }

    /** A jar that was shaded without merging the files of its services has the classes of all engines. */
    @Test
    void shouldFindTheEnginesThatNoServiceFileNames() {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(new ClassLoader(before) {
            @Override
            public Enumeration<URL> getResources(String name) throws IOException {
                return name.startsWith("META-INF/services/")
                        ? Collections.emptyEnumeration()
                        : super.getResources(name);
            }
        });
        try {
            assertEquals(List.of("cpu", "reference"),
                    InstalledEngines.find().stream().map(EngineProvider::kind).toList());
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void shouldStopWithACheckpointIfTheActorSystemOfTheProgramEnds() throws InterruptedException {
        ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), "app");
        CountDownLatch begun = new CountDownLatch(1);
        TrainingHandle handle = Troupe.start(SmallTraining.spec(home.resolve("run")).steps(ENDLESS).build(),
                TrainingData.ofText(SmallTraining.TEXT), _ -> begun.countDown(), system);
        assertTrue(begun.await(50, TimeUnit.SECONDS));
        // As a signal does: Pekko's shutdown hook runs all phases too.
        CoordinatedShutdown.get(system).runAll(CoordinatedShutdown.jvmExitReason());
        TrainingResult result = handle.await();
        requireStopped(result);
        system.getWhenTerminated().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
        assertEquals("the actor system \"app\" has been terminated, so no run can start in it: start the run in another"
                + " system, or without one",
                assertThrows(RequestException.class,
                        () -> Troupe.start(SmallTraining.spec(home.resolve("late")).build(),
                                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE, system))
                        .getMessage());
    }

    /** The first has written nothing yet when the second looks for a free directory. */
    @Test
    void shouldTakeADirectoryEachIfTheProgramNamesNone() {
        Path usual = home.resolve("runs/same");
        try (ClaimedDirectory first = ClaimedDirectory.firstFree(usual);
                ClaimedDirectory second = ClaimedDirectory.firstFree(usual)) {
            assertEquals(usual, first.path());
            assertEquals(home.resolve("runs/same-2"), second.path());
        }
        try (ClaimedDirectory again = ClaimedDirectory.firstFree(usual)) {
            assertEquals(usual, again.path());
        }
    }

    /** Early stopping, with the progress that a bar shows. */
    @Test
    void shouldHandTheHandleToTheListenerBeforeTheFirstStep() throws InterruptedException {
        List<String> heard = new ArrayList<>();
        TrainingResult result = Troupe.train(SmallTraining.spec(home.resolve("run")).steps(500).build(),
                TrainingData.ofText(SmallTraining.TEXT), new TrainingListener() {
                    private TrainingHandle run;

                    @Override
                    public void onStart(TrainingHandle handle) {
                        run = handle;
                        heard.add(handle.engine() + " for " + handle.steps());
                    }

                    @Override
                    public void onStep(TrainingStep step) {
                        heard.add(step.step() + " of " + step.steps());
                        run.stop();
                    }
                });
        assertTrue(result.wasStopped());
        assertTrue(result.stepsDone() < 10, "stopped after " + result.stepsDone());
        assertEquals(List.of("reference for 500", "0 of 500"), heard.subList(0, 2));
        assertEquals("reference", result.engine());
    }

    @Test
    void shouldEndWithTheBlockOfItsHandle() throws InterruptedException {
        TrainingHandle handle = start(ENDLESS, TrainingListener.NONE);
        try (handle) {
            assertEquals(Optional.empty(), handle.await(Duration.ofMillis(1)));
            assertFalse(handle.isDone());
        }
        assertTrue(handle.isDone());
        assertTrue(handle.await(ChronoUnit.FOREVER.getDuration()).orElseThrow().wasStopped());
        handle.close();
    }

    @Test
    void shouldRefuseAbsentArgumentsByName() {
        TrainingSpec spec = SmallTraining.spec(home.resolve("run")).build();
        TrainingData data = TrainingData.ofText(SmallTraining.TEXT);
        assertNamed("spec", () -> Troupe.train(null, data, TrainingListener.NONE));
        assertNamed("data", () -> Troupe.train(spec, null, TrainingListener.NONE));
        assertNamed("listener", () -> Troupe.train(spec, data, null));
        assertNamed("listener", () -> Troupe.train(spec, null));
        assertNamed("system", () -> Troupe.start(spec, data, TrainingListener.NONE, null));
        assertNamed("clusterFile", () -> Troupe.join((Path) null, "a", TrainingListener.NONE));
        assertNamed("spec", () -> Troupe.join((TrainingSpec) null, "a", TrainingListener.NONE));
        assertNamed("node", () -> Troupe.join(spec, null, TrainingListener.NONE));
        assertNamed("listener", () -> Troupe.join(spec, "a", null));
        assertNamed("text", () -> TrainingData.ofText(null));
        assertNamed("files", () -> TrainingData.ofFiles((Path[]) null));
        assertNamed("files", () -> TrainingData.ofFiles((Path) null));
        assertNamed("file", () -> TrainingSpec.fromFile(null));
        TrainingSpec.Builder builder = TrainingSpec.builder();
        assertNamed("file", () -> builder.file(null));
        assertNamed("key", () -> builder.set(null, 1));
        assertNamed("directory", () -> builder.output(null));
        assertNamed("directory", () -> builder.model(null));
        assertNamed("runOrCheckpoint", () -> builder.resume(null));
        assertNamed("observer", () -> builder.observer(null));
        assertNamed("name", () -> builder.name(null));
        assertNamed("kind", () -> builder.engine(null));
        assertNamed("name", () -> builder.schedule(null));
        assertNamed("runOrCheckpoint", () -> Checkpoint.open(null));
        assertFalse(home.resolve("run").toFile().exists());
    }

    private static void assertNamed(String name, org.junit.jupiter.api.function.Executable call) {
        assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
    }
}
