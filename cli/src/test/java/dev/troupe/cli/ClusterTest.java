package dev.troupe.cli;

import static dev.troupe.cli.LocalCluster.HERE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.launch.ChildProcess;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes in JVMs of their own, on addresses of the loopback: nodes of one address share memory, others use TCP. */
@Tag("runtime")
class ClusterTest {
    private static final long PATIENCE_SECONDS = 120;
    private static final List<String> TWO_RANKS = List.of("parallel.pipeline=2", "engine.kind=reference",
            "observe.sample-tokens=0");
    /** Of two small ranks. */
    private static final List<String> ENDLESS = List.of("parallel.pipeline=2", "engine.kind=reference",
            "training.steps=100000", "model.layers=2", "model.hidden=16", "training.validate-every=0");

    @TempDir
    private Path directory;
    private Path config;
    private final LocalCluster cluster = LocalCluster.of(2);
    private final List<ChildProcess> children = new ArrayList<>();

    @AfterEach
    void leaveNothing() throws InterruptedException, IOException {
        for (ChildProcess child : children) {
            child.end(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        cluster.requireNothingLeft();
    }

    private void write(String hostOfB) throws IOException {
        writeWith(hostOfB, "", "");
    }

    private void writeWith(String hostOfB, String moreOfA, String moreOfB) throws IOException {
        config = cluster.write(directory.resolve("cluster.conf"), "", cluster.node(0, moreOfA),
                cluster.node(1, hostOfB, moreOfB));
    }

    private List<String> arguments(List<String> command, String out, List<String> settings) {
        List<String> arguments = new ArrayList<>(command);
        arguments.addAll(List.of("--out", directory.resolve(out).toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return arguments;
    }

    /** A pipeline over TCP. */
    @Tag("long")
    @ParameterizedTest(name = "P={0} T={1} D={2}, node b on {3}")
    @CsvSource({"2, 1, 1, 127.0.0.2"})
    void shouldTrainToTheBitsOfOneProcess(int pipeline, int tensor, int data, String hostOfB) throws IOException {
        requireTheBitsOfOneProcess(pipeline, tensor, data, hostOfB);
    }

    /** Every node ends with the sentence of the node that cannot run a kernel, and leaves only logs and the key. */
    @Tag("long")
    @Test
    void shouldRefuseOnAllNodesWhatOneCannotRun() throws IOException {
        writeWith(HERE, "", "engine = " + RefusingEngineProvider.KIND);
        Path run = directory.resolve("run");
        Execution refused = Execution.of(arguments(List.of("launch", config.toString()), "run", TWO_RANKS));
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode(), refused.errors());
        String sentence = "troupe: node b: rank 1 cannot run on this machine what the run needs: IllegalStateException:"
                + " no unit for it, in 1UPDATE, with engine.kind = refusing";
        assertTrue(refused.errors().contains(sentence), refused.errors());
        assertEquals(1, refused.errors().lines().count(), refused.errors());
        assertEquals(List.of("logs", "run.key"), RunFiles.names(run));
        for (String node : List.of("a", "b")) {
            assertTrue(Files.readString(run.resolve("logs").resolve(node + ".log")).contains(sentence), node);
        }
    }

    /** A pipeline and a tensor group through shared memory, a data group over TCP. */
    @Tag("long")
    @ParameterizedTest(name = "P={0} T={1} D={2}, node b on {3}")
    @CsvSource({"2, 1, 2, 127.0.0.1", "1, 1, 2, 127.0.0.2", "1, 2, 1, 127.0.0.1"})
    void shouldReduceToTheBitsOfOneProcess(int pipeline, int tensor, int data, String hostOfB) throws IOException {
        requireTheBitsOfOneProcess(pipeline, tensor, data, hostOfB);
    }

    /** Rows of experts through shared streams, and over TCP. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.2"})
    void shouldExchangeRowsOfExpertsToTheBitsOfOneProcess(String hostOfB) throws IOException {
        requireTheBitsOfOneProcess("mixtral-aux", 1, 1, 2, hostOfB, "parallel.expert=2");
    }

    private void requireTheBitsOfOneProcess(int pipeline, int tensor, int data, String hostOfB) throws IOException {
        requireTheBitsOfOneProcess(Golden.TIED, pipeline, tensor, data, hostOfB);
    }

    private void requireTheBitsOfOneProcess(String name, int pipeline, int tensor, int data, String hostOfB,
            String... more) throws IOException {
        writeWith(hostOfB, tensor > 1 ? "ranks = [0]" : "", tensor > 1 ? "ranks = [1]" : "");
        List<String> settings = Golden.named(name).settings("engine.kind=reference", "training.steps=3",
                "parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor, "parallel.data=" + data,
                "training.microbatch-size=1", "data.validation-fraction=0.3", "training.validate-every=2",
                "training.validation-microbatches=2");
        settings.addAll(List.of(more));
        Execution.of(arguments(List.of("launch", config.toString()), "several", settings)).requireDone();
        Execution.of(arguments(List.of("train", config.toString()), "one", settings)).requireDone();
        assertEquals(RunFiles.results(directory.resolve("one")), RunFiles.results(directory.resolve("several")));
        assertEquals(1, RunFiles.validations(directory.resolve("one")).size());
        assertEquals(RunFiles.validations(directory.resolve("one")),
                RunFiles.validations(directory.resolve("several")));
        assertArrayEquals(RunFiles.exportedBytes(directory.resolve("one")),
                RunFiles.exportedBytes(directory.resolve("several")));
    }

    @Test
    @Tag("long")
    void shouldRefuseATakenPort() throws IOException {
        write(HERE);
        try (ServerSocket taken = new ServerSocket(cluster.controlPort(1), 1, InetAddress.getByName(HERE))) {
            Execution.of(arguments(List.of("launch", config.toString()), "out", TWO_RANKS)).requireRefused(
                    "node b cannot listen on " + HERE + ":" + taken.getLocalPort(), "control-port");
        }
    }

    @Tag("long")
    @Test
    void shouldNameTheNodeThatNeverComes() throws IOException {
        requireAlone(HERE, "a", "node b did not join within 10 seconds");
    }

    @Test
    @Tag("long")
    void shouldReportThatThereIsNoClusterToJoin() throws IOException {
        requireAlone("127.0.0.2", "b", "node b found no cluster to join");
    }

    private void requireAlone(String hostOfB, String node, String sentence) throws IOException {
        write(hostOfB);
        List<String> settings = new ArrayList<>(TWO_RANKS);
        settings.add("cluster.join-timeout=10s");
        Execution execution = Execution.of(arguments(List.of("node", config.toString(), node), "out", settings));
        assertEquals(ExitCode.RUN_FAILED, execution.exitCode(), execution.output());
        assertTrue(execution.errors().contains(sentence), execution.errors());
    }

    @Test
    @Tag("long")
    void shouldRefuseANodeThatWouldWriteElsewhere() throws IOException {
        write(HERE);
        start("a", List.of("node", config.toString(), "a"), TWO_RANKS);
        Execution execution = Execution.of(arguments(List.of("node", config.toString(), "b"), "elsewhere", TWO_RANKS));
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode(), execution.errors());
        assertTrue(execution.errors().contains("node b was refused: its directory " + config.resolveSibling("elsewhere")
                + " is not the run's, since its run.key is not that of node a"), execution.errors());
    }

    @Test
    @Tag("long")
    void shouldNameTheDifferenceToANodeThatHasOne() throws IOException {
        write(HERE);
        start("a", List.of("node", config.toString(), "a"), TWO_RANKS);
        List<String> others = new ArrayList<>(TWO_RANKS);
        others.add("parallel.schedule=gpipe");
        Execution execution = Execution.of(arguments(List.of("node", config.toString(), "b"), "out", others));
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode(), execution.errors());
        assertTrue(execution.errors().contains("node b was refused: it has parallel.schedule = \"gpipe\", but the"
                + " cluster has \"1f1b\""), execution.errors());
        assertTrue(children.getFirst().isAlive());
    }

    /** The node has no ranks, so the run continues in any case; the test is of launch. */
    @Test
    @Tag("long")
    void shouldRestartAProcessWhileTheRunContinuesWithoutIt() throws IOException, InterruptedException {
        writeWith(HERE, "ranks = [0, 1]", "standby = true");
        List<String> errors = start("launch", List.of("launch", config.toString(), "--respawns", "1"), ENDLESS);
        awaitAStep(errors);
        Path log = directory.resolve("out/logs/a.log");
        for (int time = 1; time <= 2; time++) {
            awaitLines(log, "node b has joined", time);
            LocalCluster.processOf("b").orElseThrow().destroyForcibly();
            awaitLines(directory.resolve("launch.log"), "the run continues without b", time);
        }
        assertTrue(LocalCluster.processOf("a").orElseThrow().isAlive());
        children.getFirst().terminate();
        assertTrue(children.getFirst().awaitEnd(PATIENCE_SECONDS, TimeUnit.SECONDS));
        String said = Files.readString(directory.resolve("launch.log"));
        assertEquals(1, said.split("and its process starts again", -1).length - 1, said);
        assertTrue(said.contains("Stopped before its end"), said);
        assertEquals(2,
                errors.stream().filter(line -> line.startsWith("troupe: b ended by signal 9; its log is ")).count());
    }

    private void awaitLines(Path log, String text, int count) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.exists(log) || Files.readString(log).split(Pattern.quote(text), -1).length - 1 < count) {
            assertTrue(System.nanoTime() < deadline, "not said in time " + count + " times: " + text);
            assertFalse(children.getFirst().awaitEnd(100, TimeUnit.MILLISECONDS), text);
        }
    }

    @Test
    @Tag("long")
    void shouldReportItsStatusRefuseASecondClusterAndStopWithACheckpoint() throws IOException, InterruptedException {
        writeWith(HERE, cluster.management(0), cluster.management(1));
        assertEquals(ExitCode.RUN_FAILED, Execution.of(List.of("status", config.toString())).exitCode());
        List<String> errors = start("launch", List.of("launch", config.toString()), ENDLESS);
        awaitAStep(errors);
        Execution status = Execution.of(List.of("status", config.toString())).requireDone();
        List<String> told = status.output().lines().map(line -> line.replaceAll(" +", " ")).toList();
        assertEquals(
                List.of("a " + HERE + ":" + cluster.controlPort(0) + " up 0 [0]",
                        "b " + HERE + ":" + cluster.controlPort(1) + " up 0 [1]"),
                told.subList(1, 3), status.output());
        assertTrue(told.get(3).matches("step \\d+, loss \\d\\.\\d{4}, [\\d,]+ tokens/s"), status.output());
        Execution.of(arguments(List.of("launch", config.toString()), "second", TWO_RANKS))
                .requireRefused("cluster " + cluster.name() + " runs on " + HERE + " already");
        children.getFirst().terminate();
        assertTrue(children.getFirst().awaitEnd(PATIENCE_SECONDS, TimeUnit.SECONDS));
        String said = Files.readString(directory.resolve("launch.log"));
        assertTrue(said.contains("Stopped before its end"), said);
        assertEquals(List.of(), errors.stream().filter(line -> line.startsWith("troupe: ")).toList());
    }

    /** Starts another JVM; returns the lines of its standard error as they come. */
    private List<String> start(String name, List<String> command, List<String> settings) {
        List<String> errors = new CopyOnWriteArrayList<>();
        children.add(ChildProcess.start(name, arguments(command, "out", settings), directory.resolve(name + ".log"),
                _ -> {
                }, errors::add));
        return errors;
    }

    private void awaitAStep(List<String> errors) throws IOException, InterruptedException {
        Path metrics = directory.resolve("out/metrics.jsonl");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.exists(metrics) || Files.size(metrics) == 0) {
            assertTrue(System.nanoTime() < deadline, "no step in time");
            assertFalse(children.getFirst().awaitEnd(100, TimeUnit.MILLISECONDS), () -> errors.toString());
        }
    }
}
