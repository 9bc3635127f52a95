package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;

@Tag("plan")
class ScheduleCommandTest {
    @TempDir
    private Path folder;

    @Test
    void shouldDrawTheGridToTheScaleOfTime() {
        Door door = Door.call("schedule", "1f1b", "--pipeline", "3", "--microbatches", "4");
        assertEquals(
                """
                        1f1b: 18 units; bubble 50% of ideal time, 33.3% of total
                        rank 0 F0--F1--F2--                B0------F3--B1------    B2------    B3------
                        rank 1     F0--F1--        B0------F2--B1------F3--B2------    B3------
                        rank 2         F0--B0------F1--B1------F2--B2------F3--B3------

                        makespan: 18 units
                        critical path: 12 actions, 18 units: 0F0 1F0 2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3 1B3 0B3
                        idle, by rank: [6, 6, 6]; between its first action and its last: [6, 3, 0]
                        activations held at most (microbatch x stage), by rank: [3, 2, 1]
                        messages of a step: 8 activations on 2 edges, 8 gradients on 2 edges; unconsumed at most on an edge: 2; certified with
                          2 credits an edge
                        Note: 4 microbatches are fewer than 4 for each of 3 ranks, the rule of thumb for a small bubble: it has 12 or more.
                        """,
                door.output());
        assertEquals(ExitCode.DONE, door.exitCode());
    }

    /** Huang et al. 2019: the bubble is small from M = 4 P on. */
    @ParameterizedTest
    @CsvSource({"gpipe, 2, 7, 1", "gpipe, 2, 8, 0", "interleaved-1f1b, 4, 8, 1", "zb-h1, 4, 16, 0", "gpipe, 1, 1, 0",
            "pipedream-2bw, 4, 4, 0"})
    void shouldNoteFewMicrobatches(String schedule, String ranks, String microbatches, int notes) {
        String output = Door.call("schedule", schedule, "--pipeline", ranks, "--microbatches", microbatches).output();
        assertEquals(notes, output.lines().filter(line -> line.startsWith("Note: " + microbatches + " microbatches are"
                + " fewer than 4 for each of " + ranks + " ranks")).count(), output);
    }

    @Test
    void shouldSimulateTheCostsItIsGiven() {
        String output = Door.call("schedule", "gpipe", "--pipeline", "2", "--microbatches", "1", "--costs", "1,2,0.5",
                "--hop", "0.25").output();
        assertTrue(output.startsWith("gpipe: 7.5 units; "), output); // 1 + 1/4 + 1 + 2 1/2 + 1/4 + 2 1/2
    }

    /** P = M = 8 with F = R = 1 and B = 2: (P - 1) R less. */
    @Test
    void shouldReplayForwardsInsideTheBackwardsOrAhead() throws IOException {
        String[] sizes = {"1f1b", "--pipeline", "8", "--microbatches", "8", "--recompute"};
        assertTrue(Door.call("schedule", sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], "1").output()
                .startsWith("1f1b: 60 units; "));
        String ahead = Door.call("schedule", sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], "1",
                "--recompute-ahead").output();
        assertTrue(ahead.startsWith("1f1b: 53 units; "), ahead);
        assertTrue(ahead
                .contains("\nforwards computed again ahead of their gradients at most (microbatch x stage), by rank:"
                        + " [1, 1, 1, 1, 1, 1, 1, 0]\n"),
                ahead);
        assertTrue(ahead.contains("\nwith the forwards computed again inside the backwards: 60 units\n"), ahead);
        Path plan = Files.writeString(folder.resolve("replays.csv"), "0F0,0RECOMPUTE0,0B0\n1F0,1B0\n");
        String given = Door.call("schedule", plan.toString()).output();
        assertTrue(given.contains("replays.csv: 7 units; "), given); // R as long as F
        assertRefusedCost("--recompute", "-1");
    }

    private static void assertRefusedCost(String... option) {
        Door door = Door.call("schedule", "1f1b", "--pipeline", "2", "--microbatches", "2", option[0], option[1]);
        assertTrue(door.refusal().contains(option[0] + " must be a number from 0 to a million"), door.refusal());
    }

    /** Stage 1 is the slow one: 4 forwards of 3 and 4 backwards of 6 after a forward of 1, before a backward of 2. */
    @Test
    void shouldSimulateTheCostsOfEachStage() throws IOException {
        String listed = schedule("1f1b", "--costs", "1,1,1:3,3,3").output();
        assertTrue(listed.startsWith("1f1b: 39 units; "), listed);
        Path file = Files.writeString(folder.resolve("costs.csv"), "1,1,1\n3,3,3\n");
        assertEquals(listed, schedule("1f1b", "--costs", file.toString()).output());
        assertTrue(schedule("1f1b", "--costs", "1,1,1:2,2,2:3,3,3").refusal()
                .contains("the plan has 2 stages and there are 3"));
        assertTrue(schedule("1f1b", "--costs", folder.resolve("none.csv").toString()).refusal()
                .contains("names a file that cannot be read"));
    }

    /** An activation of 100 bytes keeps its edge for 2 units at 50 bytes a unit, and takes half a unit after that. */
    @Test
    void shouldSimulateTheBandwidthOfAHop() {
        String output = Door.call("schedule", "gpipe", "--pipeline", "2", "--microbatches", "1", "--hop", "0.5,50",
                "--message-bytes", "100").output();
        assertTrue(output.contains("\nmakespan: 11 units\n"), output); // 1 + 2.5 + 1 + 2 + 2.5 + 2
        assertTrue(output.contains("4 actions, 6 units and 5 units of messages: 0F0 1F0 1B0 0B0"), output);
        for (String[] wrong : List.of(new String[]{"--hop", "1,50"}, new String[]{"--message-bytes", "5"},
                new String[]{"--hop", "1,0", "--message-bytes", "5"}, new String[]{"--hop", "soon"})) {
            Door door = schedule("gpipe", wrong);
            assertEquals(ExitCode.WRONG_REQUEST, door.exitCode(), String.join(" ", wrong));
            assertTrue(door.refusal().contains("--hop"), door.refusal());
        }
    }

    @Test
    void shouldWriteWhenEachActionStartsAndEnds() {
        assertEquals("""
                rank,action,stage,kind,microbatch,start,end
                0,0F0,0,F,0,0,0.5
                0,0B0,0,B,0,4.5,6.5
                1,1F0,1,F,0,0.5,2.5
                1,1B0,1,B,0,2.5,4.5
                """, Door.call("schedule", "1f1b", "--pipeline", "2", "--microbatches", "1", "--costs", "0.5,1,1:2,1,1",
                "--format", "times").output());
    }

    @Test
    void shouldDrawStepsThatOverlapWithTheirVersionsOfTheWeights() {
        Door door = Door.call("schedule", "pipedream-2bw", "--pipeline", "2", "--microbatches", "2");
        assertEquals(
                """
                        pipedream-2bw: 27 units; bubble 12.5% of ideal time, 11.1% of total
                        rank 0 F0@0-F1@0-          B0@0------F2@0-B1@0------F3@0-B2@0------F4@1-B3@0-
                        rank 1      F0@0-B0@0------F1@0-B1@0------F2@0-B2@0------F3@0-B3@0------F4@1-

                        from 14 units on:
                        rank 0 -----F5@1-B4@1------F6@2-B5@1------F7@2-B6@2------     B7@2------
                        rank 1 B4@1------F5@1-B5@1------F6@2-B6@2------F7@2-B7@2------

                        makespan: 27 units
                        """,
                door.output().substring(0, door.output().indexOf("critical path")));
        assertEquals(
                """
                        versions of the weights at most, by stage: [2, 2]; sums of gradients: [2, 2]; updates between the weights of a
                          gradient and those that it updates: [1, 1]
                        steady state: the block from update 0 to update 1 leads back to its own beginning, one step on, so the plan is
                          certified for any number of steps
                        each of 4 steps more: 6 units
                        """,
                door.output().substring(door.output().indexOf("versions of the weights")));
        assertTrue(door.output().contains("\nmessages of 4 steps: 8 activations on 1 edge"), door.output());
        String eager = Door.call("schedule", "pipedream-2bw", "--pipeline", "4", "--microbatches", "6", "--updates",
                "eager", "--warm-up", "2", "--steps", "8").output();
        assertTrue(eager.contains("activations held at most (microbatch x stage), by rank: [7, 5, 3, 1]"), eager);
        assertTrue(eager.contains("sums of gradients: [1, 1, 1, 1]"), eager);
        assertTrue(eager.contains("\neach of 8 steps more: 24 units\n"), eager);
    }

    @Test
    void shouldReadAPlanOfSeveralStepsButNotTrainIt() {
        Path file = folder.resolve("steps.csv");
        String[] sizes = {"--pipeline", "3", "--microbatches", "2"};
        assertEquals(ExitCode.DONE,
                call("pipedream-2bw", sizes, "--format", "csv", "--out", file.toString()).exitCode());
        String drawn = call("pipedream-2bw", sizes).output();
        assertEquals(drawn.substring(drawn.indexOf('\n'), drawn.indexOf("\neach of")),
                Door.call("schedule", file.toString()).output().substring(file.toString().length()).stripTrailing()
                        .replaceFirst("^[^\n]*", ""));
        Door door = Door.call("train", "-s", "parallel.schedule=" + file, "-s", "parallel.pipeline=3", "-s",
                "training.global-batch-size=2", "-s", "training.microbatch-size=1", "--out",
                folder.resolve("run").toString());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal()
                .contains("a run overlaps steps by a rule alone: ./troupe schedule draws and certifies it;"
                        + " to train, take those names out, or pipedream-2bw"),
                door.refusal());
        assertFalse(Files.exists(folder.resolve("run")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "pipedream | [3, 2, 1] | [2, 1, 0]", "pipedream-vertical-sync | [3, 3, 3] | [2, 2, 2]"})
    void shouldDrawStepsOfOneMicrobatch(String name, String versions, String staleness) {
        Door door = Door.call("schedule", name, "--pipeline", "3");
        assertEquals(ExitCode.DONE, door.exitCode(), door.refusal());
        assertTrue(door.output().startsWith(name + ": 33 units; bubble 22.2% of ideal time, 18.2% of total\n"),
                door.output());
        String figures = door.output().replaceAll("\\s+", " ");
        assertTrue(figures.contains("versions of the weights at most, by stage: " + versions
                + "; sums of gradients: [1, 1, 1]; updates between the weights of a gradient and those that it updates: "
                + staleness), door.output());
        assertTrue(figures.contains("so the plan is certified for any number of steps each of 9 steps more: 3 units"),
                door.output());
    }

    @Test
    void shouldRefuseTheOptionsOfOverlappingStepsForOtherSchedules() {
        assertRefused(
                "troupe: --steps, --updates and --warm-up are for schedules with overlapping steps, but 1f1b draws one step"
                        + " or what its file has: leave them out, or take pipedream-2bw\n",
                "1f1b", "2", "2", "--steps", "3");
        assertRefused("troupe: pipedream-2bw on 4 ranks needs 3 microbatches or more in a step, but was asked for 2",
                "pipedream-2bw", "4", "2");
        assertRefused("troupe: pipedream-2bw holds one stage on each rank, but was asked for 2 virtual stages",
                "pipedream-2bw", "2", "2", "--virtual-stages", "2");
        assertRefused(
                "troupe: --updates and --warm-up are for pipedream-2bw, but pipedream updates after each backward and"
                        + " warms up with one forward for each following rank: leave them out",
                "pipedream", "2", "1", "--warm-up",
                "2");
        assertRefused(
                "troupe: pipedream updates the weights after each microbatch, so that a step has 1, but was asked for"
                        + " 2 in a step",
                "pipedream", "2", "2");
        assertRefused("troupe: P x T x M must be at most 1,000,000", "pipedream-2bw", "2", "2", "--steps", "1000000");
    }

    private static Door schedule(String name, String... more) {
        return call(name, new String[]{"--pipeline", "2", "--microbatches", "4"}, more);
    }

    @Test
    void shouldWriteThePlanAsCsv() {
        assertEquals("""
                0F0,0F1,0F2,3F0,3I0,3W0,3F1,3I1,3W1,0F3,0I0,0W0,3F2,3I2,3W2,0I1,0W1,3F3,3I3,3W3,0I2,0W2,0I3,0W3
                1F0,2F0,1F1,2F1,2I0,2W0,1F2,1I0,1W0,2F2,2I1,2W1,1F3,1I1,1W1,2F3,2I2,2W2,1I2,2I3,1I3,1W2,2W3,1W3
                """,
                Door.call("schedule", "zbv", "--pipeline", "2", "--microbatches", "4", "--format", "csv").output());
    }

    @Test
    void shouldReadThePlanItWrote() {
        Path file = folder.resolve("mine.csv");
        String[] sizes = {"--pipeline", "4", "--microbatches", "6", "--format", "csv"};
        assertEquals(ExitCode.DONE, call("zbv", sizes, "--out", file.toString()).exitCode());
        assertEquals(call("zbv", sizes).output(), call(file.toString(), sizes).output());
        Door unasked = Door.call("schedule", file.toString(), "--format", "csv");
        assertEquals(call("zbv", sizes).output(), unasked.output(), unasked::refusal);
    }

    @Test
    void shouldRefuseSizesThatThePlanDoesNotHave() throws IOException {
        Path file = Files.writeString(folder.resolve("mine.csv"), "0F0,0B0\n1F0,1B0\n");
        for (String[] wrong : List.of(new String[]{"--pipeline", "4"}, new String[]{"--virtual-stages", "2"},
                new String[]{"--microbatches", "3"})) {
            Door door = Door.call("schedule", file.toString(), wrong[0], wrong[1]);
            assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
            assertTrue(door.refusal().contains("is for P = 2, V = 1, M = 1, but was asked for"), door.refusal());
            assertEquals("", door.output());
        }
    }

    @Test
    void shouldRefuseAScheduleWithoutItsSizes() {
        for (String missing : List.of("--pipeline", "--microbatches")) {
            String given = missing.equals("--pipeline") ? "--microbatches" : "--pipeline";
            Door door = Door.call("schedule", "gpipe", given, "2");
            assertEquals("troupe: a schedule by name needs --pipeline and --microbatches, but " + missing
                    + " is missing: only a plan in a file has its own\n", door.refusal());
            assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        }
    }

    /**
     * Forwards of 1, backwards of 0, hops of 10, for messages and credits alike. 0F2 is made at 3 and leaves at 21, when the
     * first of two credits is back; 0F4 leaves at 41 and is used at 51. The gradients go back in the same three waves.
     */
    @Test
    void shouldSimulateTheCreditsItCertifiesWith() {
        String output = Door.call("schedule", "gpipe", "--pipeline", "2", "--microbatches", "5", "--costs", "1,0,0",
                "--hop", "10").output();
        assertTrue(output.startsWith("gpipe: 102 units; "), output);
    }

    @Test
    void shouldWriteSvgWithABarForEachAction() throws Exception {
        Path file = folder.resolve("plan.svg");
        Door.call("schedule", "zbv", "--pipeline", "2", "--microbatches", "4", "--format", "svg", "--out",
                file.toString());
        Document svg = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        assertEquals("svg", svg.getDocumentElement().getTagName());
        assertEquals(2 * 4 * 2 * 3, svg.getElementsByTagName("title").getLength(),
                "ranks x microbatches x V x F, I, W");
    }

    @Test
    void shouldWriteATraceWithASliceForEachActionAndAnArrowForEachMessage() throws IOException {
        JsonNode trace = new JsonMapper().readTree(
                Door.call("schedule", "1f1b", "--pipeline", "3", "--microbatches", "4", "--format", "trace").output());
        List<String> phases = StreamSupport.stream(trace.get("traceEvents").spliterator(), false)
                .map(event -> event.get("ph").asText()).toList();
        assertEquals(3 * 4 * 2, phases.stream().filter("X"::equals).count());
        assertEquals(2 * 4 * 2, phases.stream().filter("s"::equals).count());
        assertEquals(2 * 4 * 2, phases.stream().filter("f"::equals).count());
    }

    @Test
    void shouldRefuseAPlanThatIsWrongWithTheGridAndThePlaceMarked() throws IOException {
        Path file = Files.writeString(folder.resolve("wrong.csv"), "0F0,0F1,0B0,0B1\n1F0,1F1,1B1\n");
        Door door = Door.call("schedule", file.toString(), "--pipeline", "2", "--microbatches", "2");
        assertEquals("""
                troupe: Plan "FILE", rank 1, position 1: 1B0 is missing: 1F0 has no backward.
                FILE: 2 ranks, 2 stages, 2 microbatches
                        0          1          2          3          4          5          6          7
                rank 0  0F0        0SEND_F0   0F1        0SEND_F1   0RECV_B0   0B0        0RECV_B1   0B1
                rank 1  1RECV_F0  [1F0]       1RECV_F1   1F1        1B1        1SEND_B1
                                   ^^^ 1B0 is missing
                """.replace("FILE", file.toString()), door.refusal());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertEquals("", door.output());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1,2", "1,1,1:", "1,1,1:1,1", "1,2,3,4", "NaN,1,1", "-1,1,1", "Infinity,1,1", "1,,1",
            "one,1,1"})
    void shouldRefuseCostsThatAreNone(String costs) {
        Door door = Door.call("schedule", "gpipe", "--pipeline", "2", "--microbatches", "2", "--costs=" + costs);
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal().contains("--costs"), door.refusal());
        assertEquals("", door.output());
    }

    @Test
    void shouldRefuseWhatItCannotDraw() {
        assertRefused(
                "troupe: P x V x M must be at most 1,000,000 to be checked and drawn here, but 100000000 x 1 x 100"
                        + " is 10,000,000,000: take fewer",
                "gpipe", "100000000", "100");
        assertRefused("troupe: gpipe needs 1 or more ranks, virtual stages and microbatches, but was asked for 0, 1 and"
                + " 4.", "gpipe", "0", "4");
        assertRefused("troupe: There is no schedule \"gpip\": did you mean \"gpipe\"? There are gpipe, 1f1b,", "gpip",
                "2", "4");
        assertRefused("troupe: There is no plan file \"none.csv\": give the path of a CSV file, or one of gpipe,",
                "none.csv", "2", "4");
    }

    @Test
    void shouldRefuseToWriteWhenThereIsNoDirectory() {
        Path file = folder.resolve("missing").resolve("plan.svg");
        assertRefused("troupe: --out must name a file in a directory that exists, but found " + file + ": make "
                + folder.resolve("missing") + ", or choose another", "gpipe", "2", "2", "--out", file.toString());
        assertFalse(Files.exists(file));
        assertRefused("troupe: --out must name a file in a directory that exists, but found " + folder
                + ": name a file in it", "gpipe", "2", "2", "--out", folder.toString());
    }

    private static void assertRefused(String beginning, String name, String pipeline, String microbatches,
            String... more) {
        Door door = call(name, new String[]{"--pipeline", pipeline, "--microbatches", microbatches}, more);
        assertEquals(beginning, door.refusal().substring(0, Math.min(beginning.length(), door.refusal().length())));
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertEquals("", door.output());
    }

    private static Door call(String name, String[] options, String... more) {
        String[] arguments = new String[2 + options.length + more.length];
        arguments[0] = "schedule";
        arguments[1] = name;
        System.arraycopy(options, 0, arguments, 2, options.length);
        System.arraycopy(more, 0, arguments, 2 + options.length, more.length);
        return Door.call(arguments);
    }
}
