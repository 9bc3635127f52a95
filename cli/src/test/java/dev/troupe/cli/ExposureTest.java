package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The warning at the start of a run if its nodes exchange tensors over a network without TLS. */
@Tag("real")
@Timeout(120)
class ExposureTest {
    /** An address for documentation (RFC 5737), which no machine has. */
    private static final String ELSEWHERE = "192.0.2.1";

    private final LocalCluster cluster = LocalCluster.of(2);

    @TempDir
    private Path directory;

    @Test
    void shouldWarnWhenANetworkIsUsedWithoutTls() throws IOException {
        Path config = cluster.write(directory.resolve("cluster.conf"), """
                parallel.pipeline = 2
                engine.kind = reference
                model { layers = 2, hidden = 16, heads = 2, sequence-length = 16 }
                observe.sample-tokens = 0
                cluster.join-timeout = 1s
                """, cluster.node(0, ""), cluster.node(1, ELSEWHERE, ""));
        Execution alone = Execution.of(
                List.of("node", config.toString(), "a", "--out", directory.resolve("run").toString()));
        assertEquals(ExitCode.RUN_FAILED, alone.exitCode(), alone.errors());
        assertTrue(alone.errors().contains("cluster.tls is not set, and the nodes talk over a network (" + ELSEWHERE
                + "): whoever can read that network reads weights, activations and gradients"), alone.errors());
        assertTrue(alone.errors().contains("node b did not join within 1 second"), alone.errors());
        cluster.requireNothingLeft();
    }
}
