package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("real")
@Dealt(4)
@Timeout(120)
class ChaosCommandTest {
    private static final List<String> TINY = List.of("parallel.pipeline=2", "model.layers=2", "model.hidden=8",
            "model.heads=2", "model.sequence-length=8", "training.global-batch-size=4", "training.microbatch-size=1",
            "training.steps=4", "engine.kind=reference", "transport.timeout=5s");

    @TempDir
    private Path folder;

    private static Door chaos(Path out, String... more) {
        return Door.call(arguments(out, more).toArray(String[]::new));
    }

    private static List<String> arguments(Path out, String... more) {
        List<String> arguments = new ArrayList<>(List.of("chaos", "--out", out.toString()));
        TINY.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        arguments.addAll(List.of(more));
        return arguments;
    }

    /** The files of a comparison in which every fault struck. */
    private static JsonNode json(Path out) throws IOException {
        JsonNode json = written(out);
        for (JsonNode fault : json.get("faults")) {
            assertTrue(fault.get("struck").asBoolean(), fault::toString);
        }
        return json;
    }

    private static JsonNode written(Path out) throws IOException {
        return new JsonMapper().readTree(out.resolve("chaos.json").toFile());
    }

    @Test
    void shouldFindNothingDifferentWhenMessagesAreLate() throws IOException {
        Path out = folder.resolve("late");
        Door door = chaos(out, "--fault", "delay step=1 seconds=0.05", "--fault", "reorder step=2", "--fault",
                "slow step=2 factor=5 stage=1");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        assertTrue(door.output().contains("the same to the bit: every loss and every weight"), door.output());
        JsonNode json = json(out);
        assertTrue(json.get("equal").asBoolean());
        assertEquals(3, json.get("faults").size());
        for (JsonNode fault : json.get("faults")) {
            assertTrue(fault.has("struck_ms"), fault::toString);
            assertTrue(door.output().contains(fault.get("fault").asText()), fault::toString);
            assertTrue(Files.readString(out.resolve("chaos.html")).contains(fault.get("fault").asText()));
        }
        assertEquals(4, json.get("disturbed").get("steps").size());
    }

    /** A step for each fault, at every point of a step at which something may throw. */
    @Test
    void shouldEndWithTheSameBitsWhateverThrows() throws IOException {
        Path out = folder.resolve("thrown");
        List<String> points = List.of("F", "B", "send", "receive", "reduce", "optimizer", "commit");
        List<String> arguments = new ArrayList<>(List.of("-s", "training.steps=" + (points.size() + 3)));
        for (int step = 0; step < points.size(); step++) {
            arguments.addAll(List.of("--fault",
                    "exception stage=" + step % 2 + " step=" + (step + 1) + " at=" + points.get(step)));
        }
        arguments.addAll(List.of("--fault", "stop-schedule-actor stage=0 step=" + (points.size() + 1), "--fault",
                "out-of-memory stage=1 step=" + (points.size() + 2)));
        Door door = chaos(out, arguments.toArray(String[]::new));
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        JsonNode json = json(out);
        assertEquals(points.size() + 2, json.get("faults").size());
        for (JsonNode fault : json.get("faults")) {
            assertTrue(fault.get("seconds_to_detect").asDouble() >= 0, fault::toString);
            assertTrue(fault.get("seconds_to_restart").asDouble() >= 0, fault::toString);
            assertTrue(fault.get("seconds_to_catch_up").asDouble() >= 0, fault::toString);
        }
        assertEquals(0, json.get("steps_lost").asInt());
        assertEquals(points.size() + 2, json.get("disturbed").get("recoveries").size());
    }

    @Test
    void shouldNameTheDifferenceWhenTheRunCannotContinue() throws IOException {
        Path out = folder.resolve("failed");
        Door door = chaos(out, "-s", "recovery.enabled=false", "--fault", "exception step=2");
        assertEquals(ExitCode.RUN_FAILED, door.exitCode(), door::output);
        assertTrue(door.output().contains("not the same: the disturbed run failed"), door.output());
        assertFalse(json(out).get("equal").asBoolean());
    }

    /** The weights are the same because no fault struck, which proves nothing. */
    @Test
    void shouldFailWhenAFaultDidNotStrike() throws IOException {
        Path out = folder.resolve("missed");
        Door door = chaos(out, "--fault", "delay step=1 seconds=0.01", "--fault", "exception probability=0.000001");
        assertEquals(ExitCode.RUN_FAILED, door.exitCode(), door::output);
        String why = "of the places that match, its probability and its seed, 0, drew none";
        assertTrue(door.output().contains("\"exception probability=0.000001\" did not strike: " + why), door.output());
        assertTrue(door.output().contains("the same to the bit: every loss and every weight, but 1 of 2 faults did not"
                + " strike"), door.output());
        JsonNode json = written(out);
        assertTrue(json.get("equal").asBoolean());
        assertEquals(1, json.get("faults_missed").asInt());
        assertTrue(json.get("faults").get(0).get("struck").asBoolean());
        assertFalse(json.get("faults").get(1).get("struck").asBoolean());
        assertEquals(why, json.get("faults").get(1).get("reason").asText());
        assertTrue(Files.readString(out.resolve("chaos.html")).contains("did not strike: " + why));
    }

    @Test
    void shouldReportTheFaultsThatTheEndOfARunPrevented() throws IOException {
        Path out = folder.resolve("forestalled");
        Door door = chaos(out, "-s", "recovery.enabled=false", "--fault", "exception stage=0 step=1", "--fault",
                "delay stage=1 step=3 seconds=0.01");
        assertEquals(ExitCode.RUN_FAILED, door.exitCode(), door::output);
        assertTrue(
                door.output().contains("\"delay stage=1 step=3 seconds=0.01\" did not strike: the run ended in step 1,"
                        + " before step 3"),
                door.output());
        assertTrue(written(out).get("throughput_kept").isNull());
    }

    @Test
    void shouldFailWhenNothingIsDrawn() {
        Path out = folder.resolve("nothing");
        Door door = chaos(out, "--random", "--mean-time", "31536000");
        assertEquals(ExitCode.RUN_FAILED, door.exitCode(), door::output);
        assertTrue(door.output().contains("none was drawn in this time; ask for more steps"), door.output());
        assertFalse(Files.exists(out.resolve("disturbed")));
    }

    /** A fault is logged as a line, since its exception has no stack. */
    @Test
    void shouldReportAnInjectedFaultOnceInALine() {
        Execution execution = Execution.of(arguments(folder.resolve("lines"), "-s", "training.steps=6", "--fault",
                "exception stage=1 step=1", "--fault", "out-of-memory stage=0 step=2", "--fault",
                "stop-schedule-actor stage=1 step=3", "--fault", "corrupt stage=0 step=4 microbatch=1"));
        assertEquals(ExitCode.DONE, execution.exitCode(), execution::output);
        assertFalse(execution.errors().contains("\tat "), execution.errors());
        assertTrue(execution.output().contains("rank 1 was restarted in step 1, after "), execution.output());
        assertTrue(
                execution.output().contains("messages were sent again, and no rank was restarted, in step 4, after "),
                execution.output());
    }

    @Test
    void shouldContinueFromACheckpointWhenNothingElseHelps() throws IOException {
        Path out = folder.resolve("resumed");
        Door door = chaos(out, "-s", "recovery.enabled=false", "-s", "training.checkpoint-every=2", "--fault",
                "exception step=3 at=B");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        JsonNode json = json(out);
        assertEquals(1, json.get("resumed").asInt());
        assertEquals(1, json.get("steps_lost").asInt());
        assertTrue(json.get("faults").get(0).get("seconds_to_restart").asDouble() > 0, json::toString);
    }

    @Test
    void shouldDropWhatComesTwice() throws IOException {
        Path out = folder.resolve("twice");
        Door door = chaos(out, "--fault", "duplicate stage=0 step=1", "--fault", "duplicate stage=1 step=2");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        assertEquals(0, json(out).get("disturbed").get("recoveries").size());
    }

    /** The timeout is longer than this test may last. */
    @Test
    void shouldNoticeAtOnceWhatIsDamagedOrMissing() throws IOException {
        Path out = folder.resolve("noticed");
        Door door = chaos(out, "-s", "transport.timeout=10m", "--fault", "corrupt stage=0 step=1 microbatch=3",
                "--fault",
                "corrupt stage=1 step=1 microbatch=0", "--fault", "drop stage=0 step=2 microbatch=1");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        List<String> reasons = new ArrayList<>();
        json(out).get("disturbed").get("recoveries").forEach(recovery -> reasons.add(recovery.get("reason").asText()));
        assertEquals(3, reasons.size(), reasons::toString);
        assertTrue(reasons.get(0).contains("does not fit its checksum"), reasons::toString);
        assertTrue(reasons.get(1).contains("does not fit its checksum"), reasons::toString);
        assertTrue(reasons.get(2).contains("1 of the messages from rank 0 -> rank 1"), reasons::toString);
    }

    @Test
    void shouldDrawWhenARankHangs() throws IOException {
        Path out = folder.resolve("hangs");
        Door door = chaos(out, "-s", "recovery.hang-timeout=1s", "--fault", "hang stage=1 step=1 microbatch=2 at=B");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        String reason = json(out).get("disturbed").get("recoveries").get(0).get("reason").asText();
        assertTrue(reason.contains("rank 1 hangs") && reason.contains("hang-step-1-epoch-0.txt"), reason);
        String drawing = Files.readString(out.resolve("disturbed").resolve("hang-step-1-epoch-0.txt"));
        for (String part : List.of("rank 1 is computing 1B2 in step 1", " <-- hangs", ", from rank 1; it has not moved",
                " >>1B2<< ", "[1B2]", "^^^ RANK 1 HANGS HERE", "^ rank 0", "dev.troupe.rank.fault.FaultInjector")) {
            assertTrue(drawing.contains(part), drawing);
        }
    }

    @Test
    void shouldTakeTheFaultsOfTheFileToo() throws IOException {
        Path out = folder.resolve("file");
        Path config = Files.writeString(folder.resolve("run.conf"),
                "troupe.faults = [\"delay step=1 seconds=0.01\"]");
        Door door = chaos(out, "--fault", "delay step=2 seconds=0.01", config.toString());
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        assertEquals(2, json(out).get("faults").size());
        assertFalse(Files.exists(out.resolve("undisturbed").resolve("faults.jsonl")));
    }

    @Test
    void shouldNameTheSeedAndTheCommandThatRepeatsWhatItDraws() throws IOException {
        Path out = folder.resolve("drawn");
        // One fault in a year: the test is of the messages.
        Door door = chaos(out, "--random", "--seed", "7", "--mean-time", "31536000", "--fault",
                "delay step=2 seconds=0.01");
        assertEquals(ExitCode.DONE, door.exitCode(), door::output);
        assertTrue(door.output().contains("seed 7 draws 0 faults; to repeat them:"), door.output());
        String repeat = door.output().lines().filter(line -> line.startsWith("  ./troupe chaos")).findFirst()
                .orElseThrow();
        assertTrue(repeat.contains(" -s 'training.steps=4'"), repeat);
        assertTrue(repeat.endsWith(" --fault 'delay step=2 seconds=0.01'"), repeat);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            exception at=Q     | --fault (command line): expected at=F or I or W
            exception stage=9  | is for stage 9, but the run has 2
            kill               | this run has one process alone
            exception step=50  | is for step 50, but the run has the steps 0 to 3
            excepton step=1    | did you mean exception?
            """)
    void shouldRefuseWithNothingWritten(String fault, String words) {
        Path out = folder.resolve("refused");
        Door door = chaos(out, "--fault", fault);
        assertTrue(door.refusal().contains(words), door.refusal());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertFalse(Files.exists(out));
    }

    @Test
    void shouldAskForAFault() {
        Door door = chaos(folder.resolve("none"));
        assertTrue(door.refusal().contains("chaos needs a fault"), door.refusal());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
    }
}
