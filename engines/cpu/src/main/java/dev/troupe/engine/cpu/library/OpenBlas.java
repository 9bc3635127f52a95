package dev.troupe.engine.cpu.library;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.bytedeco.javacpp.Loader;

/**
 * The OpenBLAS of the JavaCPP presets, as a separate copy under another name: a loaded library has one number of threads,
 * and ND4J sets another one.
 */
public final class OpenBlas {
    private static final String FOLDER = "/org/bytedeco/openblas/";
    private static final String LIBRARY = "libopenblas.so.0";
    private static final String OWN_LIBRARY = "libopenblas-of-troupe.so.0";
    private static final String PROPERTIES = "/META-INF/maven/org.bytedeco/openblas/pom.properties";
    private static final String FORTRAN = "libgfortran.so.5";
    /** Dependencies of Fortran's library, which it finds on the system only; the second is missing on some processors. */
    private static final List<String> NEEDED = List.of("libgcc_s.so.1", "libquadmath.so.0");

    private OpenBlas() {
    }

    /**
     * Returns the library, unpacked and loaded by the first call.
     *
     * @throws IllegalStateException with a sentence, if this build has none or it cannot be unpacked
     */
    @SuppressWarnings("restricted")
    public static Cblas library() {
        String folder = FOLDER + Loader.Detector.getPlatform() + "/";
        try {
            // OpenBLAS finds its dependencies by name after they are loaded. The system's may serve other libraries too.
            for (String needed : NEEDED) {
                if (OpenBlas.class.getResource(folder + needed) != null && !isOnSystem(needed)) {
                    SymbolLookup.libraryLookup(unpacked(folder + needed), Arena.global());
                }
            }
            Path there = unpacked(folder + FORTRAN);
            SymbolLookup.libraryLookup(there, Arena.global());
            return Cblas.at(copy(Unpacked.url("OpenBLAS", folder + LIBRARY), there.resolveSibling(OWN_LIBRARY)));
        } catch (IOException | IllegalArgumentException failure) { // the latter is the system's, which loads no such library
            throw new IllegalStateException("OpenBLAS could not be unpacked and loaded: " + failure.getMessage(),
                    failure);
        }
    }

    @SuppressWarnings("restricted")
    private static boolean isOnSystem(String library) {
        try {
            SymbolLookup.libraryLookup(library, Arena.global());
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /** Returns the version in the build, such as {@code 0.3.31-1.5.13}, without loading it; empty if there is none. */
    public static Optional<String> packagedVersion() {
        String folder = FOLDER + Loader.Detector.getPlatform() + "/";
        try (InputStream properties = OpenBlas.class.getResourceAsStream(PROPERTIES)) {
            if (properties == null || OpenBlas.class.getResource(folder + LIBRARY) == null) {
                return Optional.empty();
            }
            Properties read = new Properties();
            read.load(properties);
            return Optional.ofNullable(read.getProperty("version"));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static Path unpacked(String name) {
        return Unpacked.file("OpenBLAS", name).toPath();
    }

    /** Writes a temporary file and renames it: a concurrent start finds the whole library or none. */
    private static Path copy(URL from, Path to) throws IOException {
        URLConnection content = from.openConnection();
        if (Files.isRegularFile(to) && Files.size(to) == content.getContentLengthLong()) {
            return to;
        }
        Path part = Files.createTempFile(to.getParent(), OWN_LIBRARY, ".part");
        try (InputStream bytes = content.getInputStream()) {
            Files.copy(bytes, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
            return to;
        } finally {
            Files.deleteIfExists(part);
        }
    }
}
