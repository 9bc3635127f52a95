package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.TlsSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** An authority and a certificate that it has signed, as the script for users makes them. */
final class TestCertificates {
    private TestCertificates() {
    }

    /** Makes them in a directory that does not exist yet, and returns it. */
    static Path make(Path directory) throws IOException, InterruptedException {
        Path log = directory.resolveSibling("openssl.log");
        Process made = new ProcessBuilder("../../cluster-config/make-test-certificates", directory.toString(), "node")
                .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        assertTrue(made.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, made.exitValue(), Files.readString(log));
        return directory;
    }

    static TlsSpec spec(Path directory) {
        return new TlsSpec(directory.resolve("node.crt"), directory.resolve("node.key"), directory.resolve("ca.crt"));
    }
}
