package dev.troupe.engine.nd4j;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.nd4j.linalg.factory.Nd4j;

/** Tests of this engine's threads and memory, and of several engines at once. */
@Tag("parity")
@Dealt(3)
class Nd4jEngineTest {
    private static final EngineSettings ONE_THREAD = new EngineSettings(DataType.FLOAT32, 1);
    private static final EngineSettings TWO_THREADS = new EngineSettings(DataType.FLOAT32, 2);
    /** Bytes a step; one activation is 40 KiB. */
    private static final long MOST_GROWTH = 12 * 1024;
    private static final int WINDOWS = 5;
    private static final int STEPS_OF_WINDOW = 250;

    private final EngineProvider provider = new Nd4jEngineProvider();

    @Test
    void shouldBeFoundByServiceLoader() {
        EngineProvider found = ServiceLoader.load(EngineProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals("nd4j")).findFirst().orElseThrow();
        assertInstanceOf(Nd4jEngineProvider.class, found);
        assertEquals(Optional.empty(), found.obstacle(ONE_THREAD));
        assertTrue(found.description().startsWith("ND4J 1.0.0-M2.1"), found.description());
    }

    @Test
    void shouldComputeWithTheRequestedThreads() {
        for (EngineSettings settings : new EngineSettings[]{ONE_THREAD, TWO_THREADS, ONE_THREAD}) {
            try (Engine engine = provider.open(settings)) {
                assertEquals("nd4j", engine.kind());
                assertEquals(Math.min(settings.threads(), Nd4j.getEnvironment().maxThreads()), Nd4j.getEnvironment()
                        .maxMasterThreads());
                assertEquals(settings.threads(), Nd4j.factory().blas().getMaxThreads());
            }
        }
    }

    @Test
    void shouldRefuseAnotherNumberOfThreadsWhileAnEngineIsOpen() {
        try (Engine first = provider.open(ONE_THREAD); Engine second = provider.open(ONE_THREAD)) {
            assertEquals(first.kind(), second.kind());
            String sentence = provider.obstacle(TWO_THREADS).orElseThrow();
            assertTrue(sentence.contains("an open engine set it to 1, so 2 cannot be had"), sentence);
            assertEquals(sentence, assertThrows(IllegalStateException.class, () -> provider.open(TWO_THREADS))
                    .getMessage());
        }
        assertEquals(Optional.empty(), provider.obstacle(TWO_THREADS));
    }

    /**
     * The pom has the JVM touch its whole heap at the start, so what grows is native: code that the JVM compiles and small
     * objects that wait for the garbage collector, in some windows of steps, and what a step leaks, in each of them.
     */
    @Test
    void shouldKeepTheSameMemoryInEachStep() {
        try (Engine engine = provider.open(ONE_THREAD); MiniStep step = new MiniStep(engine, 1)) {
            runSteps(step, 500);
            long allocatedBytes = engine.allocatedBytes();
            long leastGrowth = Long.MAX_VALUE;
            for (int window = 0; window < WINDOWS; window++) {
                long physicalBytes = Pointer.physicalBytes();
                runSteps(step, STEPS_OF_WINDOW);
                leastGrowth = Math.min(leastGrowth, Pointer.physicalBytes() - physicalBytes);
            }
            assertEquals(allocatedBytes, engine.allocatedBytes());
            long perStep = leastGrowth / STEPS_OF_WINDOW;
            assertTrue(perStep < MOST_GROWTH, "each step takes at least " + perStep + " bytes more of native memory");
        }
    }

    @Test
    void shouldGiveTheSameBytesWithAnotherEngineAsAlone() throws ExecutionException, InterruptedException,
            TimeoutException {
        byte[][] aloneFirst = trained(1);
        byte[][] aloneSecond = trained(2);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 5; round++) {
                CompletableFuture<byte[][]> first = CompletableFuture.supplyAsync(() -> trained(1), threads);
                CompletableFuture<byte[][]> second = CompletableFuture.supplyAsync(() -> trained(2), threads);
                assertArrayEquals(aloneFirst, first.get(60, TimeUnit.SECONDS));
                assertArrayEquals(aloneSecond, second.get(60, TimeUnit.SECONDS));
            }
        }
    }

    private byte[][] trained(long seed) {
        try (Engine engine = provider.open(ONE_THREAD); MiniStep step = new MiniStep(engine, seed)) {
            runSteps(step, 20);
            return step.weights();
        }
    }

    private static void runSteps(MiniStep step, int count) {
        for (int i = 0; i < count; i++) {
            double loss = step.run();
            assertTrue(Double.isFinite(loss), "the loss of step " + i + " is " + loss);
        }
    }
}
