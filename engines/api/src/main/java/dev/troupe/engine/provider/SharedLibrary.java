package dev.troupe.engine.provider;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A loader of native libraries by their files. */
public final class SharedLibrary {
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

    private SharedLibrary() {
    }

    /**
     * Loads a library for the rest of the process.
     *
     * @throws IllegalStateException with a sentence, if the file is missing or cannot be loaded
     */
    @SuppressWarnings("restricted")
    public static SymbolLookup load(String what, Path file) {
        if (!Files.isRegularFile(file)) {
            throw refused(what, file, "is missing, or not a file");
        }
        if (!isShared(what, file)) {
            throw refused(what, file, "is not a shared library");
        }
        try {
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException failure) {
            throw refused(what, file,
                    "cannot be loaded: it is for another processor, or a library that it needs is missing");
        }
    }

    /** Returns whether a file is a shared library; for other files the JVM would warn about stack guards. */
    private static boolean isShared(String what, Path file) {
        try (InputStream content = Files.newInputStream(file)) {
            return Arrays.equals(content.readNBytes(ELF.length), ELF);
        } catch (AccessDeniedException denied) {
            throw refused(what, file, "cannot be read: permission denied");
        } catch (IOException failure) {
            throw refused(what, file, "cannot be read: " + failure.getMessage());
        }
    }

    /** Returns the refusal of a library, for its caller to throw. */
    public static IllegalStateException refused(String what, Path file, String why) {
        return new IllegalStateException("the " + what + " " + file + " " + why);
    }
}
