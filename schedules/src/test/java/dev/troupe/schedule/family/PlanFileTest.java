package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("plan")
class PlanFileTest {
    @TempDir
    private Path folder;

    @Test
    void shouldTakeAPathInPlaceOfAName() throws IOException {
        Path file = write("0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\n");
        Plan plan = Schedules.named(file.toString()).plan(2, 1, 2);
        assertEquals("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", plan.toCsv());
        assertEquals(Laps.LOOP, plan.placement());
    }

    @Test
    void shouldReadThePlacementOffTheRows() throws IOException {
        assertEquals(Laps.V, planOf("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n").placement());
        assertEquals(Laps.LOOP, planOf("0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n").placement());
    }

    @Test
    void shouldReadAMarkAndQuotedCellsAsPythonsCsvDoes() throws IOException {
        Path file = write("\uFEFF\"0F0\",\" 0F1\",\"\",\"0B0\",0B1\n,\"1F0\",1B0,1F1,1B1\n");
        assertEquals("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", Schedules.named(file.toString()).plan(2, 1, 2).toCsv());
    }

    /** A plan of interleaved 1F1B with its communication, as PyTorch 2.13 dumps it. */
    private static final String WITH_MESSAGES = """
            0UNSHARD,2UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,2RECV_F0,2F0,2SEND_F0,2RECV_F1,2F1,2SEND_F1,\
            0F2,0SEND_F2,2RECV_B0,2B0,2SEND_B0,0F3,0SEND_F3,2RECV_B1,2B1,2SEND_B1,2RECV_F2,2F2,\
            2SEND_F2,0RECV_B0,0B0,2RECV_F3,2F3,2SEND_F3,0RECV_B1,0B1,2RECV_B2,2B2,2SEND_B2,2RECV_B3,\
            2B3,2SEND_B3,2RESHARD,0RECV_B2,0B2,0RECV_B3,0B3
            1UNSHARD,3UNSHARD,1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,3RECV_F0,3F0,3B0,3SEND_B0,\
            3RECV_F1,3F1,3B1,3SEND_B1,1RECV_F2,1F2,1SEND_F2,1RECV_B0,1B0,1SEND_B0,1RECV_F3,1F3,\
            1SEND_F3,1RECV_B1,1B1,1SEND_B1,3RECV_F2,3F2,3B2,3SEND_B2,3RECV_F3,3F3,3B3,3SEND_B3,\
            3RESHARD,1RECV_B2,1B2,1SEND_B2,1RECV_B3,1B3,1SEND_B3
            """;

    @Test
    void shouldTakeTheCommunicationOutOfPlansThatTorchDumps() throws IOException {
        assertEquals("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n",
                planOf("0F0,0F1,0B0,0B1,0REDUCE_GRAD\n1F0,1F1,1B0,1B1,1REDUCE_GRAD\n").toCsv());
        Plan plan = planOf(WITH_MESSAGES);
        assertEquals("0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
                + "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3\n", plan.toCsv());
        Plan pairs = planOf("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                + "1RECV_F0,1F0,1RECV_F1,(1F1;1B0)OVERLAP_F_B,1SEND_B0,1B1,1SEND_B1\n");
        assertEquals("0F0,0F1,0B0,0B1\n1F0,(1F1;1B0)OVERLAP_F_B,1B1\n", pairs.toCsv());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "1SEND_B0, |, | line 2: 1SEND_B0 is missing: write it, or take out all sends and receives, which every run adds"
                    + " itself.",
            "0SEND_F0,0F1|2SEND_F0,0F1 | line 1: 2SEND_F0 occurs twice: take one out.",
            "0F0,0SEND_F0|0SEND_F0,0F0 | line 1: 0SEND_F0 must be after 0F0, which makes what it sends.",
            "1RECV_F0,1F0|1F0,1RECV_F0 | line 2: 1RECV_F0 must be before 1F0, which needs what it receives.",
            "3B0,3SEND_B0|3B0,3SEND_B0,3SEND_F0 | line 2: 3SEND_F0 is no message between two ranks of this plan: take it"
                    + " out, or all sends and receives, which every run adds itself.",
            "0F0,0SEND_F0|0F0,0SEND_F0,0SEND_F0 | line 1: 0SEND_F0 occurs twice: take one out.",
            "0UNSHARD,2UNSHARD,0F0|2UNSHARD,0F0,0UNSHARD | line 1: 0F0 reads weights that no 0UNSHARD before it has"
                    + " gathered: move one there, or take out all of them, which every run adds itself.",
            "3B3,3SEND_B3|3REDUCE_GRAD,3B3,3SEND_B3 | line 2: 3B3 adds to a gradient after 3REDUCE_GRAD: move that after"
                    + " it, or take it out, which every run adds itself.",
            "2RESHARD|2UPDATE | line 1: 2UPDATE is added by every run itself: take it out of the file."})
    void shouldRefuseCommunicationThatDoesNotFitThePlan(String right, String wrong, String sentence)
            throws IOException {
        String[] parts = {right.strip(), wrong.strip()};
        assertTrue(WITH_MESSAGES.contains(parts[0]), parts[0]);
        Path file = write(WITH_MESSAGES.replace(parts[0], parts[1]).replace(",,", ","));
        assertRefused("Plan \"" + file + "\", " + sentence.strip(), file);
    }

    @Test
    void shouldRefuseAPlacementThatIsNeitherLoopNorV() throws IOException {
        Path file = write("1F0,2F0,2B0,1B0\n0F0,3F0,3B0,0B0\n");
        assertRefused("Plan \"" + file + "\" places its stages neither as LOOP (which has stage 0 on rank 0, not on 1) "
                + "nor as V (which has stage 0 on rank 0, not on 1): move the stages to the ranks of one of them.",
                file);
    }

    @Test
    void shouldRefuseAStageThatTwoRanksWorkOn() throws IOException {
        Path file = write("0F0,0B0\n1F0,0F1,1B0\n");
        assertRefused(
                "Plan \"" + file + "\", line 2: 0F1 is on rank 1, but rank 0 works on stage 0 too: in a plan of a"
                        + " file one rank holds a stage; pipedream by name has replicas.",
                file);
    }

    /** As a spreadsheet saves "Unicode text". */
    @Test
    void shouldRefuseAPlanThatIsNotUtf8() throws IOException {
        Path file = Files.writeString(folder.resolve("own.csv"), "\uFEFF0F0,0B0\n", StandardCharsets.UTF_16LE);
        assertRefused("The plan file \"" + file + "\" is not UTF-8 text: save it as such.", file);
    }

    @Test
    void shouldRefuseWhatIsNoRegularFileBeforeItIsOpened() throws IOException {
        Path directory = Files.createDirectory(folder.resolve("plan.csv"));
        String message = assertThrows(PlanException.class, () -> new PlanFile(directory).plan()).getMessage();
        assertTrue(message.endsWith(" is no regular file: save it as one."), message);
    }

    @Test
    void shouldRefuseAFileThatIsTooLargeBeforeItIsRead() throws IOException {
        Path large = folder.resolve("large.csv");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength((1 << 27) + 1);
        }
        String message = assertThrows(PlanException.class, () -> new PlanFile(large).plan()).getMessage();
        assertTrue(message.endsWith(" has 134217729 bytes, but a plan has at most 134217728: take a smaller one."),
                message);
    }

    @Test
    void shouldRefuseAMissingFile() {
        Path file = folder.resolve("none.csv");
        assertRefused("There is no plan file \"" + file + "\": give the path of a CSV file, or one of "
                + String.join(", ", Schedules.names()) + ".", file);
    }

    @Test
    void shouldRefuseSizesThatTheFileDoesNotHave() throws IOException {
        Path file = write("0F0,0B0\n1F0,1B0\n");
        PlanException refusal = assertThrows(PlanException.class, () -> new PlanFile(file).plan(2, 1, 4));
        assertEquals("The plan file \"" + file + "\" is for P = 2, V = 1, M = 1, but was asked for P = 2, V = 1, "
                + "M = 4: ask for what the file has.", refusal.getMessage());
    }

    static Stream<Arguments> largePlans() {
        return Stream.of(
                Arguments.of(row(70_000, i -> i + "F0") + "," + row(70_000, i -> i + "B0"),
                        ", line 1, cell 65537: 65536F0 names stage 65536, but a plan has at most 65536 stages: take a"
                                + " smaller one."),
                Arguments.of("999999999F0,999999999B0",
                        ", line 1, cell 1: 999999999F0 names stage 999999999, but a plan"
                                + " has at most 65536 stages: take a smaller one."),
                Arguments.of("0F999999999,0B999999999,0UPDATE999999999",
                        " has 1 stage and 1000000000 microbatches, but a"
                                + " plan has at most 1048576 forwards, a stage and a microbatch each: take a smaller one."),
                Arguments.of("0F0\n".repeat(70_000),
                        " has more than 4096 lines, but a plan has at most 4096 ranks, a line"
                                + " each: take a smaller one."),
                Arguments.of("0F0" + ",0B0".repeat(7_000_000),
                        " has 7000001 actions up to line 1, but a plan has at most"
                                + " 6291456 actions: take a smaller one."),
                Arguments.of("0" + "F".repeat(5_000_000) + "0", ", line 1, cell 1: \"0" + "F".repeat(39)
                        + "...\" is no action, since it has 5000002 characters: write stage, kind and microbatch, as in"
                        + " 2F0."));
    }

    private static String row(int count, IntFunction<String> action) {
        return IntStream.range(0, count).mapToObj(action).collect(Collectors.joining(","));
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("largePlans")
    void shouldRefusePlansThatNoRunCanHave(String csv, String sentence) throws IOException {
        Path file = write(csv);
        assertRefused("Plan \"" + file + "\"" + sentence, file);
    }

    private Path write(String csv) throws IOException {
        return Files.writeString(folder.resolve("own.csv"), csv);
    }

    private Plan planOf(String csv) throws IOException {
        return new PlanFile(write(csv)).plan();
    }

    private static void assertRefused(String expected, Path file) {
        assertEquals(expected, assertThrows(PlanException.class, () -> new PlanFile(file).plan()).getMessage());
    }
}
