package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.plan.checkpoint.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ctrl-C in a terminal, which reaches every process in it at once, and signals to single processes: once with a
 * checkpoint, twice at once; one exit code everywhere, the command that resumes, and nothing left.
 */
@Tag("runtime")
class StopTest {
    private static final long PATIENCE_SECONDS = 120;
    /** Of stopping at once, which waits for no step. */
    private static final long SOON_SECONDS = 60;
    private static final long LOOK_AGAIN_NANOS = 50_000_000;
    private static final List<String> ENDLESS = List.of("parallel.pipeline=2", "engine.kind=reference",
            "training.steps=100000", "model.layers=2", "model.hidden=16", "training.validate-every=0");
    /** A step takes minutes, a microbatch moments. */
    private static final List<String> LONG_STEP = List.of("parallel.pipeline=2", "engine.kind=reference",
            "training.steps=10", "model.layers=2", "model.hidden=64", "training.validate-every=0",
            "training.microbatch-size=2", "training.global-batch-size=20000");
    private static final Pattern NEXT = Pattern.compile("(?:resume|begin again) with: \\./troupe ([^\n]+)");

    private enum Way {
        CTRL_C, SIGTERM, SIGHUP
    }

    @TempDir
    private Path directory;
    private Path config;
    private Path out;
    private final List<PseudoTerminal> terminals = new ArrayList<>();
    private final LocalCluster cluster = LocalCluster.of(2);

    @BeforeEach
    void write() throws IOException {
        out = directory.resolve("out");
        config = cluster.write(directory.resolve("cluster.conf"), "", cluster.node(0, ""), cluster.node(1, ""));
    }

    @AfterEach
    void closeTerminals() throws IOException {
        terminals.forEach(PseudoTerminal::close);
        processesOfThisTest().forEach(ProcessHandle::destroyForcibly);
    }

    /** By their command lines, since a process without its parent is nobody's child. */
    private List<ProcessHandle> processesOfThisTest() {
        return ProcessHandle.allProcesses().filter(process -> {
            try {
                return process.isAlive() && Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
                        .contains(directory.toString());
            } catch (IOException _) {
                return false; // it has ended
            }
        }).toList();
    }

    private void requireNothingLeft() throws IOException {
        assertEquals(List.of(), processesOfThisTest().stream().map(ProcessHandle::pid).toList());
        assertEquals(List.of(), cluster.portsInUse());
        List<Long> ours = terminals.stream().map(terminal -> terminal.process().pid()).toList();
        try (Stream<Path> left = Files.list(Path.of("/dev/shm"))) {
            assertEquals(List.of(), left.map(file -> file.getFileName().toString())
                    .filter(file -> file.startsWith("troupe-" + cluster.name() + "-")
                            || ours.stream().anyMatch(pid -> file.startsWith("troupe-" + pid + "-")))
                    .toList());
        }
        assertFalse(Files.exists(out.resolve("run.lock")));
    }

    private PseudoTerminal start(List<String> settings, String... command) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of("--out", out.toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        terminals.add(PseudoTerminal.start(OtherJvm.command(OtherJvm.briefFlags(), Troupe.class, arguments)));
        return terminals.getLast();
    }

    private static void stop(PseudoTerminal terminal, Way way) throws IOException {
        switch (way) {
            case CTRL_C -> terminal.typeCtrlC();
            case SIGTERM -> terminal.process().destroy();
            case SIGHUP -> new ProcessBuilder("kill", "-HUP", "" + terminal.process().pid()).start();
        }
    }

    @Tag("long")
    @Test
    void shouldWriteACheckpointOnCtrlCOfALaunchedRunAndResume() throws IOException, InterruptedException {
        requireACheckpoint(Way.CTRL_C, "launch");
    }

    @Test
    void shouldWriteACheckpointOnCtrlCOfTrainAndResume() throws IOException, InterruptedException {
        requireACheckpoint(Way.CTRL_C, "train");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"SIGTERM, launch", "SIGHUP, launch", "SIGTERM, train", "SIGHUP, train"})
    void shouldWriteACheckpointOnASignalAndResume(Way way, String command) throws IOException, InterruptedException {
        requireACheckpoint(way, command);
    }

    private void requireACheckpoint(Way way, String command) throws IOException, InterruptedException {
        PseudoTerminal terminal = start(ENDLESS, command, config.toString());
        terminal.await("step ", PATIENCE_SECONDS);
        stop(terminal, way);
        assertEquals(ExitCode.STOPPED, terminal.awaitEnd(PATIENCE_SECONDS), terminal.shown());
        assertTrue(terminal.shown().contains(StopRequests.AFTER_THE_STEP), terminal.shown());
        requireNothingLeft();
        requireNoNoise(terminal);
        long done = Checkpoint.newestSteps(out).orElseThrow();
        assertEquals(done, RunFiles.metrics(out, "step").length, "each step is in the checkpoint");
        goOn(terminal, done + 1);
        assertEquals(done + 1, Checkpoint.newestSteps(out).orElseThrow());
    }

    private static void requireNoNoise(PseudoTerminal terminal) {
        for (String noise : List.of("troupe: ", "Exception", "\tat ", " WARN ", " ERROR ")) {
            assertFalse(terminal.shown().contains(noise), terminal.shown());
        }
    }

    /** Runs the command that the run printed at its end. */
    private static void goOn(PseudoTerminal terminal, long steps) {
        Matcher next = NEXT.matcher(terminal.shown());
        assertTrue(next.find(), terminal.shown());
        List<String> arguments = new ArrayList<>(List.of(next.group(1).split(" ")));
        arguments.addAll(List.of("-s", "training.steps=" + steps));
        Door door = Door.call(arguments.toArray(String[]::new));
        assertEquals(ExitCode.DONE, door.exitCode(), door.output() + door.refusal());
    }

    @Tag("long")
    @Test
    void shouldStopTheRunWhenOneNodeOfTwoIsStopped() throws IOException, InterruptedException {
        requireBothStop(Way.CTRL_C, 1, 1);
    }

    @Tag("long")
    @ParameterizedTest(name = "{0} to node {1}, {2} times")
    @CsvSource({"CTRL_C, 0, 1", "SIGTERM, 0, 1", "SIGTERM, 1, 1", "CTRL_C, 0, 2", "CTRL_C, 1, 2", "SIGTERM, 1, 2"})
    void shouldStopTheRunOfNodesStartedByHand(Way way, int node, int times) throws IOException, InterruptedException {
        requireBothStop(way, node, times);
    }

    private void requireBothStop(Way way, int node, int times) throws IOException, InterruptedException {
        List<String> settings = times == 1 ? ENDLESS : LONG_STEP;
        List<PseudoTerminal> nodes = List.of(start(settings, "node", config.toString(), "a"),
                start(settings, "node", config.toString(), "b"));
        if (times == 1) {
            nodes.getFirst().await("step 1/", PATIENCE_SECONDS);
        } else {
            awaitStart("node");
        }
        stop(nodes.get(node), way);
        if (times == 2) {
            nodes.get(node).await(StopRequests.AFTER_THE_STEP, SOON_SECONDS);
            stop(nodes.get(node), way);
        }
        for (PseudoTerminal each : nodes) {
            assertEquals(ExitCode.STOPPED, each.awaitEnd(times == 1 ? PATIENCE_SECONDS : SOON_SECONDS), each.shown());
            assertFalse(each.shown().contains("troupe: "), each.shown());
        }
        requireNothingLeft();
        for (int index = 0; index < nodes.size(); index++) {
            String name = index == 0 ? "a" : "b";
            String said = nodes.get(index).shown();
            assertTrue(said.contains((times == 1 ? "resume with: " : "begin again with: ") + "./troupe node " + config
                    + " " + name + (times == 1 ? " --resume " : " --out ") + out), said);
        }
        assertEquals(times == 1, Checkpoint.newestSteps(out).isPresent());
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"CTRL_C, launch", "SIGTERM, launch", "CTRL_C, train", "SIGTERM, train"})
    void shouldStopAtOnceWhenItIsAskedTwice(Way way, String command) throws IOException, InterruptedException {
        PseudoTerminal terminal = start(LONG_STEP, command, config.toString());
        awaitStart(command);
        stop(terminal, way);
        terminal.await(StopRequests.AFTER_THE_STEP, SOON_SECONDS);
        stop(terminal, way);
        assertEquals(ExitCode.STOPPED, terminal.awaitEnd(SOON_SECONDS), terminal.shown());
        assertTrue(terminal.shown().contains("Stopped before its first checkpoint"), terminal.shown());
        requireNothingLeft();
        requireNoNoise(terminal);
        assertTrue(Checkpoint.newestSteps(out).isEmpty());
    }

    /** As an operator does that does not know of the launcher, or a service that ends all its processes. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"b", "a", "all"})
    void shouldStopALaunchedRunWhenOneOrAllOfItsProcessesAreAsked(String asked)
            throws IOException, InterruptedException {
        PseudoTerminal terminal = start(ENDLESS, "launch", config.toString());
        terminal.await("step 1/", PATIENCE_SECONDS);
        List<ProcessHandle> children = terminal.process().children()
                .filter(child -> asked.equals("all") || arguments(child).containsAll(List.of("node", asked))).toList();
        assertEquals(asked.equals("all") ? 3 : 1, children.size());
        children.forEach(ProcessHandle::destroy);
        if (asked.equals("all")) {
            terminal.process().destroy();
        }
        assertEquals(ExitCode.STOPPED, terminal.awaitEnd(PATIENCE_SECONDS), terminal.shown());
        requireNothingLeft();
        requireNoNoise(terminal);
        assertFalse(terminal.shown().contains("continues without it"), terminal.shown());
        assertTrue(terminal.shown().contains("resume with: ./troupe launch " + config + " --resume " + out),
                terminal.shown());
        assertEquals(RunFiles.metrics(out, "step").length, Checkpoint.newestSteps(out).orElseThrow());
    }

    private static List<String> arguments(ProcessHandle process) {
        try {
            return List.of(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).split("\0"));
        } catch (IOException _) {
            return List.of(); // it has ended
        }
    }

    @Test
    @Tag("long")
    void shouldStopANodeThatWaitsForTheOther() throws IOException, InterruptedException {
        PseudoTerminal alone = start(ENDLESS, "node", config.toString(), "a");
        alone.await("waiting for node b", PATIENCE_SECONDS);
        alone.typeCtrlC();
        assertEquals(ExitCode.STOPPED, alone.awaitEnd(SOON_SECONDS), alone.shown());
        assertTrue(alone.shown().contains("begin again with: ./troupe node " + config + " a --out " + out),
                alone.shown());
        requireNothingLeft();
    }

    @Test
    @Tag("long")
    void shouldStopWithACheckpointWhenTheLauncherIsKilled() throws IOException, InterruptedException {
        PseudoTerminal terminal = start(ENDLESS, "launch", config.toString());
        terminal.await("step 1/", PATIENCE_SECONDS);
        terminal.process().destroyForcibly();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!processesOfThisTest().isEmpty()) {
            assertTrue(System.nanoTime() < deadline, "processes are left");
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
        requireNothingLeft();
        assertTrue(Checkpoint.newestSteps(out).isPresent());
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"compare", "chaos"})
    void shouldStopAnExperiment(String command) throws IOException, InterruptedException {
        PseudoTerminal terminal = command.equals("chaos")
                ? start(ENDLESS, command, "--fault", "exception stage=1 step=90000")
                : start(List.of("training.steps=100000"), command, "--schedules", "gpipe,1f1b", "--steps", "100000");
        if (command.equals("chaos")) {
            terminal.await("step ", PATIENCE_SECONDS);
        } else {
            awaitLock();
        }
        terminal.typeCtrlC();
        assertEquals(ExitCode.STOPPED, terminal.awaitEnd(SOON_SECONDS), terminal.shown());
        assertTrue(terminal.shown().contains("Stopped: nothing is compared"), terminal.shown());
        requireNothingLeft();
        requireNoNoise(terminal);
        assertEquals(command.equals("chaos"), Files.exists(out));
    }

    /** Of the first of the runs that are compared. */
    private void awaitLock() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.exists(out.resolve("run-0").resolve("run.lock"))) {
            assertTrue(System.nanoTime() < deadline, "it has not begun");
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    /** The first step is in progress, or nearly so: nothing else happens for minutes. */
    private void awaitStart(String command) throws IOException, InterruptedException {
        PseudoTerminal first = terminals.getFirst();
        first.await("activations held at most", PATIENCE_SECONDS);
        Path file = command.equals("launch") ? out.resolve("logs/a.log") : out.resolve("metrics.jsonl");
        String said = command.equals("launch") ? "node b has joined" : "";
        if (command.equals("node")) {
            first.await("node b has joined", PATIENCE_SECONDS);
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.exists(file) || !Files.readString(file).contains(said)) {
            assertTrue(System.nanoTime() < deadline, first.shown());
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }
}
