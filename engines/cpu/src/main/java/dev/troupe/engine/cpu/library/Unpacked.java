package dev.troupe.engine.cpu.library;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import org.bytedeco.javacpp.Loader;

/** The native libraries of the class path as files, in the cache that JavaCPP shares among the processes of a user. */
final class Unpacked {
    private Unpacked() {
    }

    /**
     * Returns a library as a file.
     *
     * @param product its name for a person
     * @throws IllegalStateException with a sentence, if the class path has none for this platform, or no folder can be
     *     written to
     */
    static File file(String product, String resource) {
        URL url = url(product, resource);
        try {
            File file = Loader.cacheResource(url);
            if (file != null) {
                return file;
            }
        } catch (IOException | RuntimeException failure) {
            throw unwritable(product, failure);
        }
        throw unwritable(product, null);
    }

    /** Returns the place of a library on the class path. */
    static URL url(String product, String resource) {
        URL url = Unpacked.class.getResource(resource);
        if (url == null) {
            String platform = Loader.Detector.getPlatform();
            throw new IllegalStateException("the class path has no " + product + " for " + platform
                    + ": add org.bytedeco:" + resource.split("/")[3] + " with the classifier " + platform
                    + ", which the dependency troupe-engine-cpu brings for Linux unless it is excluded");
        }
        return url;
    }

    private static IllegalStateException unwritable(String product, Exception failure) {
        return new IllegalStateException(
                "there is no folder to unpack " + product + " into: neither .javacpp in the home"
                        + " directory " + System.getProperty("user.home") + " nor the temporary directory "
                        + System.getProperty("java.io.tmpdir") + " can be written to; name one that can with"
                        + " -Dorg.bytedeco.javacpp.cachedir=DIRECTORY"
                        + (failure == null || failure.getMessage() == null ? "" : " (" + failure.getMessage() + ")"),
                failure);
    }
}
