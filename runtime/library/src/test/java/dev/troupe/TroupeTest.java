package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("runtime")
@Timeout(120)
class TroupeTest extends RunsInThisJvm {
    @Test
    void shouldWriteWhatTheCommandWrites() throws InterruptedException, IOException {
        List<TrainingStep> steps = new ArrayList<>();
        List<TrainingEvent> events = Collections.synchronizedList(new ArrayList<>());
        TrainingResult result = Troupe.train(
                SmallTraining.spec(home.resolve("run")).set("training.checkpoint-every", 2)
                        .set("data.validation-fraction", 0.2).set("training.validate-every", 2).build(),
                TrainingData.ofText(SmallTraining.TEXT), new TrainingListener() {
                    @Override
                    public void onStep(TrainingStep step) {
                        steps.add(step);
                    }

                    @Override
                    public void onEvent(TrainingEvent event) {
                        events.add(event);
                    }
                });
        Path directory = home.resolve("run");
        assertEquals(directory, result.directory());
        assertEquals(Optional.of(directory.resolve("model")), result.model());
        assertTrue(Files.isRegularFile(directory.resolve("model/model.safetensors")));
        assertEquals(List.of(4L, 2L),
                result.checkpoints().stream().map(TroupeTest::steps).toList());
        assertEquals(4, result.losses().size());
        assertEquals(result.losses(), steps.stream().map(TrainingStep::loss).toList());
        assertTrue(result.validationLoss().isPresent());
        assertFalse(result.wasStopped());
        assertEquals(List.of("checkpoint", "checkpoint"), events.stream().map(TrainingEvent::kind).toList());
        assertEquals(4, Files.readAllLines(directory.resolve("metrics.jsonl")).stream()
                .filter(line -> line.startsWith("{\"step\":")).count());
        assertTrue(Files.isRegularFile(directory.resolve("events.jsonl")));
        assertTrue(Files.isRegularFile(directory.resolve("trace.json")));
        assertFalse(Files.exists(directory.resolve("run.lock")));
        assertEquals(directory.resolve("corpus.txt").toString(), ConfigFactory
                .parseFile(directory.resolve("config.conf").toFile()).getString("troupe.data.path"));
    }

    /** The directory of a run has all that another program, or the command, needs to resume it. */
    @Test
    void shouldResumeARunOnTextInMemoryWithoutTheText() throws InterruptedException {
        Path run = home.resolve("run");
        Troupe.train(SmallTraining.spec(run).build(), TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE);
        TrainingResult resumed = Troupe.train(TrainingSpec.builder().resume(run).steps(6).build(),
                TrainingListener.NONE);
        assertEquals(6, resumed.stepsDone());
        assertEquals(2, resumed.losses().size());
        TrainingResult whole = Troupe.train(SmallTraining.spec(home.resolve("whole")).steps(6).build(),
                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE);
        assertEquals(whole.losses().subList(4, 6), resumed.losses());
    }

    @Test
    void shouldStopFromAnotherThreadWithACheckpoint() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        TrainingHandle handle = start(ENDLESS, _ -> begun.countDown());
        assertTrue(begun.await(60, TimeUnit.SECONDS));
        handle.stop();
        TrainingResult result = handle.await();
        requireStopped(result);
        assertEquals(result.stepsDone(), handle.stepsDone());
    }

    @Test
    void shouldEndWithoutACheckpointIfItsThreadIsInterrupted() throws InterruptedException {
        Thread caller = Thread.currentThread();
        assertThrows(InterruptedException.class,
                () -> Troupe.train(SmallTraining.spec(home.resolve("run")).steps(ENDLESS).build(),
                        TrainingData.ofText(SmallTraining.TEXT), step -> {
                            if (step.step() == 0) { // a second interrupt could reach the clean-up after this test
                                caller.interrupt();
                            }
                        }));
        assertFalse(Files.exists(home.resolve("run/model")));
    }

    @Test
    void shouldReportThatItsStartWasInterrupted() {
        Thread.currentThread().interrupt();
        InterruptedException interrupted = assertThrows(InterruptedException.class,
                () -> start(4, TrainingListener.NONE));
        assertTrue(Thread.interrupted());
        assertEquals("the run has not started: the thread that was starting it was interrupted",
                interrupted.getMessage());
    }

    @Test
    void shouldRunTwoAtTheSameTime() throws InterruptedException {
        TrainingHandle one = Troupe.start(SmallTraining.spec(home.resolve("one")).build(),
                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE);
        TrainingHandle two = Troupe.start(SmallTraining.spec(home.resolve("two")).schedule("gpipe").build(),
                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE);
        assertEquals(one.await().losses(), two.await().losses());
    }

    @Test
    void shouldLetAHandedInActorSystemLiveOn() throws InterruptedException, IOException {
        ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), "app");
        try {
            TrainingHandle one = Troupe.start(SmallTraining.spec(home.resolve("one")).build(),
                    TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE, system);
            List<String> events = Collections.synchronizedList(new ArrayList<>());
            TrainingHandle two = Troupe.start(
                    SmallTraining.spec(home.resolve("two")).set("faults", List.of("exception stage=1 step=1 at=B"))
                            .build(),
                    TrainingData.ofText(SmallTraining.TEXT), new TrainingListener() {
                        @Override
                        public void onStep(TrainingStep step) {
                            // the losses are in the result
                        }

                        @Override
                        public void onEvent(TrainingEvent event) {
                            events.add(event.kind());
                        }
                    }, system);
            assertEquals(one.await().losses(), two.await().losses());
            assertEquals(List.of("recovery", "checkpoint"), events);
            SmallTraining.requireNothingLeft();
            assertFalse(system.getWhenTerminated().toCompletableFuture().isDone());
        } finally {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
        }
    }

    @Test
    void shouldFailWithTheReasonOfTheListener() throws InterruptedException {
        TrainingHandle handle = start(4, _ -> {
            throw new IllegalStateException("enough");
        });
        CompletableFuture<TrainingResult> result = handle.result();
        RunFailedException failed = assertThrows(RunFailedException.class, handle::await);
        assertTrue(failed.getMessage().contains("enough"), failed.getMessage());
        assertEquals(home.resolve("run"), failed.directory());
        // a thread that waits may wake before the future that was handed out completes
        assertEquals(failed, assertThrows(ExecutionException.class, () -> result.get(20, TimeUnit.SECONDS)).getCause());
    }

    @Test
    void shouldReadTheTensorsOfACheckpoint() throws InterruptedException {
        Path run = home.resolve("run");
        Troupe.train(SmallTraining.spec(run).set("parallel.tensor", 2).build(), TrainingData.ofText(SmallTraining.TEXT),
                TrainingListener.NONE);
        Troupe.train(SmallTraining.spec(home.resolve("whole")).build(), TrainingData.ofText(SmallTraining.TEXT),
                TrainingListener.NONE);
        try (Checkpoint split = Checkpoint.open(run); Checkpoint whole = Checkpoint.open(home.resolve("whole"))) {
            assertEquals(whole.names(), split.names());
            assertEquals(4, split.stepsDone());
            assertEquals(Float.BYTES, split.elementBytes());
            for (String name : split.names()) {
                float[] values = split.floats(name);
                assertEquals(values.length,
                        split.shape(name).stream().mapToInt(Integer::intValue).reduce(1, Math::multiplyExact));
                assertArrayEquals(whole.floats(name), values, 1e-5f, name);
            }
            assertTrue(assertThrows(RequestException.class, () -> split.floats("none")).getMessage()
                    .contains("no parameter \"none\""));
        }
    }

    private static long steps(Path checkpoint) {
        try (Checkpoint opened = Checkpoint.open(checkpoint)) {
            return opened.stepsDone();
        }
    }
}
