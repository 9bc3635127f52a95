package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests, without a compiler, that the PTX was compiled from the sources. */
@Tag("plan")
class PtxTest {
    private static final Path SOURCES = Path.of("src/main/cuda");

    @Test
    void shouldShipPtxCompiledFromItsSources() throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (String ending : List.of(".cu", ".cuh")) {
            try (Stream<Path> files = Files.list(SOURCES)) {
                for (Path file : files.filter(path -> path.toString().endsWith(ending)).sorted().toList()) {
                    digest.update(Files.readAllBytes(file));
                }
            }
        }
        assertNull(Ptx.strangerTo(HexFormat.of().formatHex(digest.digest()), Ptx.text()));
    }

    @Test
    void shouldReportPtxOfOtherSources() {
        assertEquals("troupe-80.ptx must begin with \"// Of the sources with SHA-256 00ff\", the sum of"
                + " engines/cuda/src/main/cuda, but begins with \".version 9.2\"; run engines/cuda/build-ptx",
                Ptx.strangerTo("00ff", ".version 9.2\n.target sm_80\n"));
    }
}
