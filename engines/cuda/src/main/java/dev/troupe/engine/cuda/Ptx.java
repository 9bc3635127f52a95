package dev.troupe.engine.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** The kernels as PTX, which {@code engines/cuda/build-ptx} compiles from {@code src/main/cuda}. */
final class Ptx {
    private static final String RESOURCE = "troupe-80.ptx";
    private static final String HEADER = "// Of the sources with SHA-256 ";

    private Ptx() {
    }

    static String text() {
        try (InputStream stream = Ptx.class.getResourceAsStream(RESOURCE)) {
            if (stream == null) {
                throw new IllegalStateException("this build of the cuda engine has no " + RESOURCE
                        + "; run engines/cuda/build-ptx and build it again");
            }
            return new String(stream.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException failure) {
            throw new IllegalStateException("the cuda engine's " + RESOURCE + " cannot be read: "
                    + failure.getMessage(), failure);
        }
    }

    /** Returns why a text of PTX is not compiled from sources with this SHA-256, in one sentence; null if it is. */
    static String strangerTo(String sha256, String text) {
        String first = text.lines().findFirst().orElse("");
        if (first.equals(HEADER + sha256)) {
            return null;
        }
        return RESOURCE + " must begin with \"" + HEADER + sha256
                + "\", the sum of engines/cuda/src/main/cuda, but begins with \""
                + first + "\"; run engines/cuda/build-ptx";
    }
}
