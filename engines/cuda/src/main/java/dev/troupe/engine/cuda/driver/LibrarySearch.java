package dev.troupe.engine.cuda.driver;

import dev.troupe.engine.provider.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The search for NVIDIA's driver on a machine. */
record LibrarySearch(Map<String, String> environment, Path root) {
    private static final String LOADER_PATH = "LD_LIBRARY_PATH";
    private static final String MAPS = "proc/self/maps";

    static LibrarySearch ofThisMachine() {
        return new LibrarySearch(System.getenv(), Path.of("/"));
    }

    Finding driver() {
        Optional<String> loaded = loaded();
        String where = "; the loader looks in " + LOADER_PATH + " ("
                + Optional.ofNullable(environment.get(LOADER_PATH)).filter(path -> !path.isEmpty()).orElse("not set")
                + ") and in the system's folders";
        return new Finding(Driver.LIBRARY, loaded.isPresent(), loaded.orElse("not found") + where);
    }

    private Optional<String> loaded() {
        try (Stream<String> lines = Files.lines(root.resolve(MAPS))) {
            return lines.filter(line -> line.contains("/libcuda.so")).map(line -> line.substring(line.indexOf('/')))
                    .findFirst();
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }
}
