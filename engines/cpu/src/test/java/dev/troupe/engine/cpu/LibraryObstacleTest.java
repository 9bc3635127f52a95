package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.OneDnn;
import dev.troupe.engine.provider.EngineSettings;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.bytedeco.javacpp.Loader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The native libraries of a class path from any machine, and the sentences if they cannot be loaded. */
@Tag("real")
@Timeout(60)
class LibraryObstacleTest {
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    @TempDir
    private Path folder;

    @BeforeEach
    void shouldServe() {
        assumeTrue(new CpuEngineProvider().serves(new EngineSettings(DataType.FLOAT32, 1)), "no processor for it");
    }

    /** Neither Gradle nor a machine that builds for another one reads profiles of an operating system. */
    @Test
    void shouldResolveLibrariesOfEveryPlatformOnAnyMachine() {
        for (String platform : List.of("linux-x86_64", "linux-arm64")) {
            String ending = "libdnnl.so.3";
            assertTrue(OneDnn.class.getResource("/org/bytedeco/dnnl/" + platform + "/" + ending) != null, platform);
            assertTrue(OneDnn.class.getResource("/org/bytedeco/openblas/" + platform + "/libopenblas.so.0") != null,
                    platform);
        }
    }

    @Test
    void shouldNameTheLibraryThatTheClassPathLacks() throws IOException, InterruptedException {
        String without = Arrays.stream(CLASS_PATH.split(File.pathSeparator)).filter(entry -> !entry.contains("dnnl-"))
                .collect(Collectors.joining(File.pathSeparator));
        String platform = Loader.Detector.getPlatform();
        String sentence = "the cpu engine could not load oneDNN (the class path has no oneDNN for " + platform
                + ": add org.bytedeco:dnnl with the classifier " + platform + ", which the dependency troupe-engine-cpu"
                + " brings for Linux unless it is excluded); without it take the engine nd4j or reference, which are slower";
        assertEquals(sentence + System.lineSeparator() + sentence,
                JavaProcess.output(without, List.of(), LibraryProbe.class));
    }

    /** As in a container with a read-only file system. */
    @Test
    void shouldNameTheFoldersThatCannotBeWritten() throws IOException, InterruptedException {
        Path file = Files.createFile(folder.resolve("file"));
        String said = JavaProcess.output(CLASS_PATH,
                List.of("-Duser.home=" + file.resolve("home"), "-Djava.io.tmpdir=" + file.resolve("tmp")),
                LibraryProbe.class).lines().findFirst().orElseThrow();
        assertTrue(said
                .startsWith("the cpu engine could not load oneDNN (there is no folder to unpack oneDNN into: neither"
                        + " .javacpp in the home directory " + file.resolve("home")),
                said);
        assertTrue(said.contains("-Dorg.bytedeco.javacpp.cachedir=DIRECTORY"), said);
    }
}
