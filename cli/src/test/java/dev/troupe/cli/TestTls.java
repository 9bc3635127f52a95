package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The certificates of a cluster on the addresses 127.0.0.1 and 127.0.0.2. */
final class TestTls {
    private static final long PATIENCE_SECONDS = 120;

    private TestTls() {
    }

    /** Makes certificates in the folder {@code tls} of a directory, and returns the key of a run that names them. */
    static String section(Path directory) throws IOException, InterruptedException {
        Path files = directory.resolve("tls");
        Path log = directory.resolve("openssl.log");
        Process made = new ProcessBuilder("../cluster-config/make-test-certificates", files.toString(),
                "127.0.0.1,127.0.0.2").redirectErrorStream(true).redirectOutput(log.toFile()).start();
        assertTrue(made.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertEquals(0, made.exitValue(), Files.readString(log));
        return "cluster.tls { certificate = %1$s/127.0.0.1.crt, key = %1$s/127.0.0.1.key, authority = %1$s/ca.crt }"
                .formatted(files);
    }
}
