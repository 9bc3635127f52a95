package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;

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
                "Plan \"" + file + "\", line 2: 0F1 stands on rank 1, but rank 0 works on stage 0 too: in a plan of a"
                        + " file one rank holds a stage; pipedream by name has replicas.",
                file);
    }

    @Test
    void shouldRefuseAFileThatIsNotThere() {
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
