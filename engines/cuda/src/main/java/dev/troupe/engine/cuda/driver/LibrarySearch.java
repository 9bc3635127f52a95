package dev.troupe.engine.cuda.driver;

import dev.troupe.engine.provider.Finding;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where NVIDIA's libraries are looked for on a machine.
 *
 * @param environment
 *            the variables of the process
 * @param root
 *            the folder that the system's folders are in
 */
record LibrarySearch(Map<String, String> environment, Path root) {
    private static final String LOADER_PATH = "LD_LIBRARY_PATH";
    /** The loader's list of libraries that this process has in memory. */
    private static final String MAPS = "proc/self/maps";
    private static final List<String> SYSTEM_FOLDERS = List.of("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib",
            "lib64");
    private static final List<String> CUBLAS = List.of("libcublasLt.so.13", "libcublasLt.so.12");
    /** Of Python's packages, for CUDA 13 and for CUDA 12. */
    private static final List<String> OF_PACKAGES = List.of("nvidia/cu13/lib", "nvidia/cublas/lib");

    static LibrarySearch ofThisMachine() {
        return new LibrarySearch(System.getenv(), Path.of("/"));
    }

    /** The driver, which the system's loader has found or not. */
    Finding driver() {
        Optional<String> loaded = loaded();
        String where = "; the loader looks in " + LOADER_PATH + " ("
                + Optional.ofNullable(environment.get(LOADER_PATH)).filter(path -> !path.isEmpty()).orElse("not set")
                + ") and in the system's folders";
        return new Finding(Driver.LIBRARY, loaded.isPresent(), loaded.orElse("not found") + where);
    }

    /** The file that the loader took. */
    private Optional<String> loaded() {
        try (Stream<String> lines = Files.lines(root.resolve(MAPS))) {
            return lines.filter(line -> line.contains("/libcuda.so")).map(line -> line.substring(line.indexOf('/')))
                    .findFirst();
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** The library of products, which the engine does not load: its products are its own. */
    Finding cublas() {
        List<Path> folders = folders();
        Optional<Path> found = folders.stream().flatMap(folder -> CUBLAS.stream().map(folder::resolve))
                .filter(Files::isRegularFile).findFirst();
        Optional<Path> other = folders.stream().flatMap(folder -> within(folder, "libcublasLt.so.*")).findFirst();
        String words = found.map(Path::toString).orElseGet(() -> other
                .map(library -> "expected " + String.join(" or ", CUBLAS) + ", but found " + library
                        + ", a library of another version: install that of CUDA 13 or 12 if it is to be found here")
                .orElse("not found in " + folders));
        return new Finding("cuBLASLt", found.isPresent(),
                words + "; products are the engine's own, with or without it");
    }

    /** The folders of cuBLASLt in the order in which they are looked through, as far as they are there. */
    List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        paths(environment.get(LOADER_PATH)).forEach(folders::add);
        SYSTEM_FOLDERS.stream().map(root::resolve).forEach(folders::add);
        paths(environment.get("CUDA_HOME")).map(home -> home.resolve("lib64")).forEach(folders::add);
        within(root.resolve("usr/local"), "cuda*").map(home -> home.resolve("lib64")).forEach(folders::add);
        pythons().flatMap(LibrarySearch::packages)
                .flatMap(packages -> OF_PACKAGES.stream().map(packages::resolve)).forEach(folders::add);
        return folders.stream().filter(Files::isDirectory).distinct().toList();
    }

    /** The folders of Python's installations, the activated installation first. */
    private Stream<Path> pythons() {
        Stream<Path> own = paths(environment.get("VIRTUAL_ENV")).map(home -> home.resolve("lib"));
        Stream<Path> ofUser = paths(environment.get("HOME")).map(home -> home.resolve(".local/lib"));
        return Stream.of(own, ofUser, Stream.of(root.resolve("usr/local/lib"), root.resolve("usr/lib")))
                .flatMap(all -> all);
    }

    private static Stream<Path> packages(Path lib) {
        return within(lib, "python3*")
                .flatMap(python -> Stream.of(python.resolve("site-packages"), python.resolve("dist-packages")));
    }

    private static Stream<Path> paths(String variable) {
        return variable == null
                ? Stream.empty()
                : Stream.of(variable.split(":")).filter(path -> !path.isEmpty()).map(Path::of);
    }

    /** The entries of a folder with such a name, the later names first. */
    private static Stream<Path> within(Path folder, String glob) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
                entries.forEach(found::add);
            } catch (IOException unreadable) {
                return Stream.empty();
            }
        }
        return found.stream().sorted((a, b) -> b.compareTo(a));
    }
}
