package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run directory that an earlier version left after two of four steps, with a manifest of format 2. */
@Tag("real")
@Timeout(120)
class FormerRunTest {
    /** Of that version's own run of four steps. */
    private static final String WEIGHTS = "aca45eca90711bdc2662d98a4553114189dd07cb6f2f4be7d994272ef7b5b623";
    private static final double[] NORMS = {1.1565253748750195, 1.1175428465122432, 1.4262090856205782,
            1.1908153315179968};

    @TempDir
    private Path directory;

    /** As it was, and with stages that end inside a block. */
    @ParameterizedTest
    @ValueSource(strings = {"", "parallel.layout=Eta|mL"})
    void shouldContinueBitForBit(String setting) throws IOException, URISyntaxException, NoSuchAlgorithmException {
        Path run = copy();
        List<String> arguments = new ArrayList<>(List.of("train", "--resume", run.toString()));
        if (!setting.isEmpty()) {
            arguments.addAll(List.of("-s", setting));
        }
        Execution.of(arguments).requireDone();
        assertArrayEquals(NORMS, RunFiles.metrics(run, "gradient_norm"));
        assertEquals(WEIGHTS, HexFormat.of().formatHex(
                MessageDigest.getInstance("SHA-256").digest(RunFiles.exportedBytes(run))));
    }

    private Path copy() throws IOException, URISyntaxException {
        Path former = Path.of(FormerRunTest.class.getResource("/former-run").toURI());
        Path run = directory.resolve("run");
        try (Stream<Path> files = Files.walk(former)) {
            for (Path file : files.toList()) {
                Files.copy(file, run.resolve(former.relativize(file).toString()));
            }
        }
        return run;
    }
}
