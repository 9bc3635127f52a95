package dev.troupe.cli;

import static dev.troupe.cli.LocalCluster.HERE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.family.Schedules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Nodes in JVMs of their own, with faults, which end with the bits of a run without faults. */
@Tag("real")
@Timeout(300)
class ClusterFaultTest {
    private static final int STEPS = 6;

    @TempDir
    private Path directory;
    private Path config;
    private final LocalCluster cluster = LocalCluster.of(3);
    private String tls = "";

    @AfterEach
    void leaveNothing() throws IOException {
        cluster.requireNothingLeft();
    }

    private void write(String hostOfB, boolean hasStandby) throws IOException {
        config = cluster.write(directory.resolve("cluster.conf"), tls, cluster.node(0, ""),
                cluster.node(1, hostOfB, ""), hasStandby ? cluster.node(2, "standby = true") : "");
    }

    private static List<String> small(int ranks, String... more) {
        List<String> settings = new ArrayList<>(List.of("parallel.pipeline=" + ranks, "engine.kind=reference",
                "model.layers=4", "model.hidden=16", "model.heads=2", "model.sequence-length=16",
                "training.global-batch-size=8", "training.microbatch-size=1", "training.validate-every=0",
                "observe.sample-tokens=0"));
        settings.addAll(List.of(more));
        return settings;
    }

    private List<String> arguments(String command, String out, List<String> settings) {
        List<String> arguments = new ArrayList<>(List.of(command, config.toString(), "--out",
                directory.resolve(out).toString()));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return arguments;
    }

    /** Two launched nodes and TLS; the coordinator's process is killed, and the other takes over its ranks and the run. */
    @Test
    void shouldEndWithTheSameBitsOverTlsWhenTheLeaderIsKilled() throws Exception {
        tls = TestTls.section(directory);
        requireTheBitsOfOneProcess("127.0.0.2", "1f1b", 1, "exception stage=1 step=1 at=B", "kill-coordinator step=3");
    }

    /** The first two ranks of four are node a's, which leads. */
    @Tag("long")
    @ParameterizedTest
    @MethodSource("schedules")
    void shouldEndWithTheSameBitsUnderEverySchedule(String schedule) throws IOException {
        boolean isSplit = Schedules.named(schedule).plan(4, Schedules.named(schedule).usualVirtualStages(), 8).rows()
                .get(3).stream().anyMatch(action -> action.kind() == Kind.BACKWARD_INPUT);
        requireTheBitsOfOneProcess(HERE, schedule, 2, "exception stage=1 step=1 microbatch=3",
                "exception rank=3 step=2 at=" + (isSplit ? "I" : "B"), "kill rank=2 step=4");
    }

    static Stream<String> schedules() {
        return Schedules.names().stream();
    }

    /** Passes of three steps; a process is killed with two of them in flight, and then the leader's process. */
    @Tag("long")
    @Test
    void shouldEndWithTheSameBitsWhenProcessesAreKilledWhileStepsOverlap() throws IOException {
        write(HERE, true);
        requireTheBitsOfOneProcess(small(4, "training.steps=9", "parallel.schedule=pipedream-2bw",
                "parallel.flush-every=3", "model.tie-embeddings=true"), "exception rank=1 step=1 at=B",
                "exception rank=3 step=2 at=optimizer", "kill rank=2 step=4", "kill-coordinator step=7");
    }

    /** Passes of six microbatches; a process is killed with four of them in flight, and then the leader's process. */
    @Tag("long")
    @Test
    void shouldEndWithTheSameBitsWhenProcessesAreKilledWithStashedWeights() throws IOException {
        write(HERE, true);
        requireTheBitsOfOneProcess(
                small(4, "training.steps=12", "parallel.schedule=pipedream", "parallel.flush-every=6",
                        "training.global-batch-size=1", "training.gradient-clip=0", "model.tie-embeddings=false"),
                "exception rank=1 step=1 at=B", "exception rank=3 step=4 at=optimizer", "kill rank=2 step=3",
                "kill-coordinator step=9");
    }

    /**
     * Ranks of two processes hand over on one device, late and in drawn orders; one of them is killed in the middle of a
     * step, and the standby takes its ranks, which hand over there again.
     */
    @Dealt(5)
    @Test
    void shouldEndWithTheSameBitsWhenProcessesShareADevice() throws IOException {
        requireTheSameBitsOnOneDevice("1f1b");
    }

    @Tag("long")
    @Test
    void shouldEndWithTheSameBitsWhenProcessesShareADeviceAndWeightsWait() throws IOException {
        requireTheSameBitsOnOneDevice("zb-h1");
    }

    private void requireTheSameBitsOnOneDevice(String schedule) throws IOException {
        write(HERE, true);
        requireTheBitsOfOneProcess(
                small(4, "engine.kind=" + DeviceEngineProvider.KIND, "training.steps=" + STEPS,
                        "parallel.schedule=" + schedule, StandbyWait.SETTING),
                "exception stage=1 step=1 microbatch=3", "kill rank=2 step=3");
        for (String node : List.of("a", "b", "c")) {
            String log = Files.readString(directory.resolve("struck").resolve("logs").resolve(node + ".log"));
            assertTrue(log.contains(DeviceEngineProvider.SHARES), node + ": " + log);
            assertFalse(log.contains(" go by way of the host"), node + ": " + log);
        }
    }

    private void requireTheBitsOfOneProcess(String hostOfB, String schedule, int ranksOfANode, String... faults)
            throws IOException {
        write(hostOfB, false);
        requireTheBitsOfOneProcess(small(2 * ranksOfANode, "training.steps=" + STEPS, "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + Schedules.named(schedule).usualVirtualStages(),
                "model.layers=" + Math.max(4, 2 * ranksOfANode * Schedules.named(schedule).usualVirtualStages())),
                faults);
    }

    private void requireTheBitsOfOneProcess(List<String> settings, String... faults) throws IOException {
        Path whole = directory.resolve("whole");
        Path run = directory.resolve("struck");
        Execution.of(arguments("train", "whole", settings)).requireDone();
        settings.add("faults=[\"" + String.join("\", \"", faults) + "\"]");
        Execution struck = Execution.of(arguments("launch", "struck", settings));
        assertEquals(ExitCode.DONE, struck.exitCode(), () -> struck.output() + struck.errors());
        Struck.require(run, faults);
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }

    /**
     * A stop and a short cut are waited out; the ranks of a killed node continue on the nodes with its copies, also from the
     * coordinator's node. So do the ranks of a node that is cut off for longer than the failure detector waits: it is the
     * minority of the cluster, and ends.
     */
    @Tag("long")
    @ParameterizedTest(name = "{0}, with a standby: {1}")
    @CsvSource({"kill stage=1, false", "kill stage=1, true", "kill-coordinator, false", "exit stage=0, true",
            "lose-device stage=1, false", "lose-device stage=0, true",
            "cut-both stage=1 seconds=90, true", "cut-both stage=0 seconds=90, true"})
    void shouldEndWithTheSameBitsWhenANodeIsFrozenCutOffAndKilled(String end, boolean hasStandby)
            throws IOException {
        write(HERE, hasStandby);
        List<String> faults = List.of("freeze stage=1 step=2 seconds=0.5", "cut-data stage=0 step=4 seconds=0.5",
                end + " step=7");
        List<String> arguments = arguments("chaos", "chaos", small(2, "training.steps=12"));
        faults.forEach(fault -> arguments.addAll(List.of("--fault", fault)));
        Door door = Door.call(arguments.toArray(String[]::new));
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        Struck.require(directory.resolve("chaos").resolve("disturbed"), faults.toArray(String[]::new));
        assertTrue(door.output().contains("0 steps lost, 0 times resumed from a checkpoint"), door.output());
        assertTrue(door.output().contains("the same to the bit"), door.output());
    }
}
