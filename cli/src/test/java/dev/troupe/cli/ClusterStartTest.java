package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.launch.ChildProcess;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.directory.RunDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Launches of which a node is killed while they start: the run begins again, and ends with the bits of one process. */
@Tag("real")
@Dealt(5)
class ClusterStartTest {
    private static final long PATIENCE_SECONDS = 300;
    private static final int DRAWS = 20;
    private static final int LATEST_MILLIS = 1_500;
    private static final List<String> MOMENTS = List.of("nodes start", "waiting for nodes ", "waiting for node ",
            "Warm-up");

    @TempDir
    private Path directory;
    private final LocalCluster cluster = LocalCluster.of(4);
    private ChildProcess launch;

    @AfterEach
    void leaveNothing() throws InterruptedException, IOException {
        if (launch != null) {
            launch.end(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        cluster.requireNothingLeft();
    }

    /** Writes a cluster file of nodes with one rank each, and trains the expected result in this process. */
    private void write(String... nodes) throws IOException {
        cluster.write(config(), """
                parallel.pipeline = %d
                engine.kind = reference
                model { layers = 4, hidden = 16, heads = 2, sequence-length = 16 }
                training { steps = 3, global-batch-size = 4, microbatch-size = 1, validate-every = 0 }
                observe.sample-tokens = 0
                """.formatted(nodes.length), nodes);
        Execution.of(List.of("train", config().toString(), "--out", directory.resolve("one").toString())).requireDone();
    }

    private Path config() {
        return directory.resolve("start.conf");
    }

    private Path launchLog(String out) {
        return directory.resolve(out + ".log");
    }

    private void launch(String out) {
        launch = ChildProcess.start("launch",
                List.of("launch", config().toString(), "--out", directory.resolve(out).toString()), launchLog(out),
                _ -> {
                }, _ -> {
                });
    }

    private void awaitThat(BooleanSupplier moment) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!moment.getAsBoolean() && !launch.awaitEnd(20, TimeUnit.MILLISECONDS)) {
            assertTrue(System.nanoTime() < deadline, "the moment of the kill has not come");
        }
    }

    private void requireTheBitsOfOneProcess(String out) throws InterruptedException {
        assertTrue(launch.awaitEnd(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "does not end: " + said(out));
        launch.end(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(ExitCode.DONE, launch.exitCode(), () -> said(out));
        RunFiles.assertSameBits(directory.resolve("one"), directory.resolve(out));
    }

    private String said(String out) {
        try {
            return Files.readString(launchLog(out));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void shouldBeginAgainWhenANodeIsKilledBeforeTheRunBegins() throws IOException, InterruptedException {
        write(cluster.node(0, ""), cluster.node(1, "engine = " + HeldEngineProvider.KIND));
        launch("several");
        Path isHeld = directory.resolve("several").resolve(RunDirectory.LOGS).resolve(HeldEngineProvider.MARK);
        awaitThat(() -> Files.exists(isHeld));
        LocalCluster.processOf("b").orElseThrow(() -> new AssertionError(said("several"))).destroyForcibly();
        requireTheBitsOfOneProcess("several");
        String said = said("several");
        assertTrue(said.contains("troupe: b ended by signal 9; its log is"), said);
        assertTrue(said.contains("b was lost: all nodes start again, from the beginning"), said);
    }

    /**
     * Any node at any moment; whether the run has begun by then decides how it continues. With
     * {@code -Dtroupe.sweep.share=N} one of N draws, at least three, that follow from {@code -Dtroupe.sweep.seed}.
     */
    @Tag("long")
    @Test
    void shouldTrainWhicheverNodeIsKilledWhenever() throws IOException, InterruptedException {
        List<String> nodes = List.of("a", "b", "c", "d");
        write(IntStream.range(0, nodes.size()).mapToObj(node -> cluster.node(node, "")).toArray(String[]::new));
        long seed = Long.getLong("troupe.sweep.seed", System.nanoTime());
        int draws = Math.max(3, DRAWS / Integer.getInteger("troupe.sweep.share", 1));
        Random random = new Random(seed);
        int kills = 0;
        for (int draw = 0; draw < draws; draw++) {
            String out = "draw-" + draw;
            String moment = MOMENTS.get(random.nextInt(MOMENTS.size()));
            String node = nodes.get(random.nextInt(nodes.size()));
            int laterMillis = random.nextInt(LATEST_MILLIS);
            try {
                launch(out);
                awaitThat(() -> said(out).contains(moment));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(laterMillis));
                if (LocalCluster.processOf(node).map(ProcessHandle::destroyForcibly).orElse(false)) {
                    kills++;
                }
                requireTheBitsOfOneProcess(out);
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError(
                        "-Dtroupe.sweep.seed=%d, draw %d, %s killed %d ms after \"%s\": %s".formatted(seed,
                                draw, node, laterMillis, moment, said(out)),
                        failure);
            }
        }
        assertTrue(kills > 0, "no node lived at the moment of its kill");
    }
}
