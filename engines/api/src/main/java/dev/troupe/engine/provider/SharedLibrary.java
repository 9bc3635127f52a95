package dev.troupe.engine.provider;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Native libraries that a user or a search names by their files. */
public final class SharedLibrary {
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

    private SharedLibrary() {
    }

    /**
     * Loads a library, which stays loaded as long as the process.
     *
     * @param what what the library should be, in a word
     * @throws IllegalStateException with a sentence, where the file is not there or cannot be loaded
     */
    @SuppressWarnings("restricted")
    public static SymbolLookup load(String what, Path file) {
        if (!Files.isRegularFile(file)) {
            throw refused(what, file, "is not there, or no file");
        }
        if (!isShared(what, file)) {
            throw refused(what, file, "is no shared library");
        }
        try {
            return SymbolLookup.libraryLookup(file, Arena.global());
        } catch (IllegalArgumentException failure) {
            throw refused(what, file,
                    "cannot be loaded: it is for another processor, or a library that it needs is missing");
        }
    }

    /** The JVM would ask any other file for its stack guards, aloud. */
    private static boolean isShared(String what, Path file) {
        try (InputStream content = Files.newInputStream(file)) {
            return Arrays.equals(content.readNBytes(ELF.length), ELF);
        } catch (IOException failure) {
            throw refused(what, file, "cannot be read: " + failure.getMessage());
        }
    }

    /** Returns the refusal of a library, for its caller to throw. */
    public static IllegalStateException refused(String what, Path file, String why) {
        return new IllegalStateException("the " + what + " " + file + " " + why);
    }
}
