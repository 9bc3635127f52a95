package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code parallel.invariant}: the weights after 20 steps have one SHA-256 for each model and engine, whatever the grid.
 * Grids are drawn by their number; {@code -Dtroupe.hash.first} and {@code .count} choose the numbers of the long test.
 */
@Tag("real")
@Dealt(5)
@Timeout(120)
class OneHashTest {
    private static final int OF_A_BUILD = 20;
    private static final Map<String, String> PLAIN = new HashMap<>();

    @TempDir
    private Path directory;

    private int runs;

    @AfterEach
    void breakNothing() {
        FaultyEngineProvider.breakNothing();
    }

    static LongStream some() {
        return LongStream.range(0, OF_A_BUILD);
    }

    static LongStream all() {
        return LongStream.range(0, Long.getLong("troupe.hash.count", 500))
                .map(i -> i + Long.getLong("troupe.hash.first", 0));
    }

    @ParameterizedTest
    @MethodSource("some")
    void shouldEndWithTheHashOfOneRank(long seed) throws IOException {
        requireOneHash(seed);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("all")
    void shouldEndWithTheHashOfOneRankOn500Grids(long seed) throws IOException {
        requireOneHash(seed);
    }

    private void requireOneHash(long seed) throws IOException {
        DrawnGrid grid = DrawnGrid.of(seed);
        for (String engine : List.of("reference", "cpu")) {
            assertEquals(plain(grid.model(), grid.tensor(), engine), hash(grid.settings(engine)),
                    "seed " + seed + ", " + engine + ", " + grid);
        }
    }

    /** The key is needed: without it the same two grids have other bits. */
    @Test
    void shouldEndWithOtherHashesWithoutTheKey() throws IOException {
        DrawnGrid two = new DrawnGrid(0, 1, 1, 2, 1, 0, "gpipe", 1, "uniform", "none");
        assertNotEquals(hash(DrawnGrid.plain(0, 1).settings("reference", "parallel.invariant=[]")),
                hash(two.settings("reference", "parallel.invariant=[]")));
    }

    /** A rank fails while the others that divide its experts wait for its rows, in a forward and in a backward. */
    @ParameterizedTest
    @CsvSource({"1f1b, 2, gatherRows, 6, 2", "zb-h1, 1, combineRowsBackward, 13, 3"})
    void shouldEndWithItAfterAFailureInsideAnExchangeOfRows(String schedule, int rank, String kernel, int call,
            int zero)
            throws IOException {
        DrawnGrid grid = new DrawnGrid(DrawnGrid.MIXTURE, 1, 2, 4, 2, zero, schedule, 1, "uniform", "none");
        String expected = plain(DrawnGrid.MIXTURE, 1, FaultyEngineProvider.KIND);
        FaultyEngineProvider.breakCall(rank, kernel, call);
        assertEquals(expected, hash(grid.settings(FaultyEngineProvider.KIND)));
        assertTrue(FaultyEngineProvider.hasBroken(), "nothing failed");
    }

    /** A checkpoint of one grid continues on another. */
    @Test
    void shouldEndWithItAfterAResumeOnAnotherGrid() throws IOException {
        DrawnGrid before = new DrawnGrid(DrawnGrid.MIXTURE, 1, 1, 4, 2, 3, "gpipe", 1, "uniform", "none");
        DrawnGrid after = new DrawnGrid(DrawnGrid.MIXTURE, 1, 2, 2, 1, 1, "1f1b", 1, "uniform", "full");
        Path run = directory.resolve("resumed");
        Execution.train(run, before.settings("cpu", "training.steps=10")).requireDone();
        Execution.resume(run, after.settings("cpu").stream().flatMap(setting -> Stream.of("-s", setting))
                .toArray(String[]::new)).requireDone();
        assertEquals(plain(DrawnGrid.MIXTURE, 1, "cpu"), hashOf(run));
    }

    private String plain(int model, int tensor, String engine) throws IOException {
        String name = model + " " + tensor + " " + engine;
        if (!PLAIN.containsKey(name)) {
            PLAIN.put(name, hash(DrawnGrid.plain(model, tensor).settings(engine)));
        }
        return PLAIN.get(name);
    }

    private String hash(List<String> settings) throws IOException {
        Path run = directory.resolve("run-" + runs++);
        Execution.train(run, settings).requireDone();
        return hashOf(run);
    }

    private static String hashOf(Path run) throws IOException {
        try {
            return HexFormat.of().formatHex(
                    MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(RunFiles.exported(run))));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every platform has SHA-256", impossible);
        }
    }
}
