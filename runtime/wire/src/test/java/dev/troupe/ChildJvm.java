package dev.troupe;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another process with a class of these tests. */
public final class ChildJvm {
    private ChildJvm() {
    }

    /** What starts the main method of a class, with the class path, the module flags and the vectors of this process. */
    public static ProcessBuilder of(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--") || argument.startsWith("-XX:UseAVX="))
                .forEach(command::add);
        // A process that lives for seconds gains nothing from the second compiler or a second collecting thread.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }
}
