package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A root with the scripts of this one, in which Java and Maven may be scripts of a test. */
final class LaunchedTree {
    private static final Path PROJECT = Path.of("..");
    private static final List<String> SCRIPTS = List.of("troupe", ".mvn/find-jdk", ".mvn/build-tree");

    final Path folder;
    final Path root;

    private LaunchedTree(Path folder, Path root) {
        this.folder = folder;
        this.root = root;
    }

    static LaunchedTree in(Path folder) throws IOException {
        LaunchedTree tree = new LaunchedTree(folder, Files.createDirectories(folder.resolve("root/.mvn")).getParent());
        for (String script : SCRIPTS) {
            Files.copy(PROJECT.resolve(script), tree.root.resolve(script));
            assertTrue(tree.root.resolve(script).toFile().setExecutable(true, false));
        }
        return tree;
    }

    /** Makes a JDK in the folder, with a script for its {@code java}; returns the environment that names it. */
    Map<String, String> java(String body) throws IOException {
        Path jdk = Files.createDirectories(folder.resolve("jdk/bin")).getParent();
        Files.writeString(jdk.resolve("release"), "IMPLEMENTOR=\"none\"\nJAVA_VERSION=\"25.0.1\"\n");
        script("../jdk/bin/javac", "");
        script("../jdk/bin/java", body);
        return Map.of("TROUPE_JAVA_HOME", jdk.toString());
    }

    void script(String name, String body) throws IOException {
        Path file = root.resolve(name);
        Files.writeString(file, "#!/usr/bin/env bash\nset -e\n" + body);
        assertTrue(file.toFile().setExecutable(true, false));
    }

    /** Puts a jar of this module into the tree, as a build leaves it. */
    Path takeAJar() throws IOException {
        Path jar = Files.writeString(target().resolve("troupe-cli-1.jar"), "");
        takeClassPath(List.of("cli/target/troupe-cli-1.jar"));
        return jar;
    }

    /** Has the launcher start the classes that this JVM runs. */
    void takeThisBuild() throws IOException {
        takeClassPath(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Files.exists(Path.of(entry))).toList());
    }

    void takeClassPath(List<String> entries) throws IOException {
        Files.write(target().resolve("troupe.classpath"), entries);
    }

    Path target() throws IOException {
        return Files.createDirectories(root.resolve("cli/target"));
    }

    /** The output of a process until its end, with its exit code. */
    record Ended(int exitCode, String errors, String output) {
    }

    Ended launch(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(root.resolve("troupe").toString()));
        command.addAll(List.of(arguments));
        return end(builder(environment, command));
    }

    /** Runs a line of bash in the folder, in which {@code $troupe} is the launcher. */
    Ended shell(Map<String, String> environment, String line) throws IOException, InterruptedException {
        ProcessBuilder builder = builder(environment, List.of("bash", "-c", line));
        builder.environment().put("troupe", root.resolve("troupe").toString());
        return end(builder);
    }

    ProcessBuilder builder(Map<String, String> environment, List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TROUPE_"));
        builder.environment().put("TROUPE_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        return builder;
    }

    private static Ended end(ProcessBuilder builder) throws IOException, InterruptedException {
        Path output = Files.createTempFile("troupe-launched", "");
        try {
            Process process = builder.redirectOutput(output.toFile()).start();
            // To its end, as a pipe: the launcher's filter may outlive the JVM by a moment.
            String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> builder.command() + " did not end");
            return new Ended(process.exitValue(), said, Files.readString(output));
        } finally {
            Files.delete(output);
        }
    }

    /** Ends with the code 0 and writes nothing but the output. */
    static void assertQuiet(String output, Ended ended) {
        assertEquals(new Ended(0, "", output), ended);
    }
}
