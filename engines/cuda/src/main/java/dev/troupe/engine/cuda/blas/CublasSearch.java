package dev.troupe.engine.cuda.blas;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The search for cuBLASLt on a machine. */
public record CublasSearch(Map<String, String> environment, Path root) {
    private static final List<String> SYSTEM_FOLDERS = List.of("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib",
            "lib64");
    /** The supported versions of CUDA, the latest first. */
    private static final List<Integer> VERSIONS = List.of(13, 12);
    private static final String PREFIX = "libcublasLt.so.";
    /** Folders of Python's packages, for CUDA 13 and for CUDA 12. */
    private static final List<String> OF_PACKAGES = List.of("nvidia/cu13/lib", "nvidia/cublas/lib");

    /** The search on this machine, with the variables of this process. */
    public static CublasSearch ofThisMachine() {
        return new CublasSearch(System.getenv(), Path.of("/"));
    }

    /**
     * Returns the first file of the library that exists.
     *
     * @param driverMajor the driver's version of CUDA; a later library does not run on it
     * @throws IllegalStateException with a sentence, if there is none
     */
    public Path find(int driverMajor) {
        List<String> names = VERSIONS.stream().filter(version -> version <= driverMajor)
                .map(version -> PREFIX + version).toList();
        if (names.isEmpty()) {
            throw new IllegalStateException("cuBLASLt needs a driver of CUDA " + VERSIONS.getLast()
                    + " or later, but this one is of CUDA " + driverMajor);
        }
        List<Path> folders = folders();
        return folders.stream().flatMap(folder -> names.stream().map(folder::resolve)).filter(Files::isRegularFile)
                .findFirst().orElseThrow(() -> new IllegalStateException(absence(folders, names)));
    }

    private static String absence(List<Path> folders, List<String> names) {
        List<Path> others = folders.stream().flatMap(folder -> within(folder, PREFIX + "*")).toList();
        return others.isEmpty()
                ? "cuBLASLt was not found in " + folders
                : "cuBLASLt must be " + String.join(" or ", names) + " for this driver, but was found as "
                        + others.stream().map(Path::toString).collect(Collectors.joining(", "));
    }

    /** The existing folders, in the order of the search. */
    List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        paths(environment.get("LD_LIBRARY_PATH")).forEach(folders::add);
        SYSTEM_FOLDERS.stream().map(root::resolve).forEach(folders::add);
        paths(environment.get("CUDA_HOME")).map(home -> home.resolve("lib64")).forEach(folders::add);
        within(root.resolve("usr/local"), "cuda*").map(home -> home.resolve("lib64")).forEach(folders::add);
        pythons().flatMap(CublasSearch::packages)
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
