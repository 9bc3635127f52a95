import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts the application's jar, waits for three steps, sends SIGTERM, and looks for what a stopped run leaves. The
 * class path of the jar was resolved as on another kind of machine (invoker.properties), so the engine must have come
 * from the jar itself.
 */
class Check {
    public static void main(String[] arguments) throws Exception {
        Path output = Path.of("run").toAbsolutePath();
        ProcessBuilder command = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--sun-misc-unsafe-memory-access=allow", "--add-modules=jdk.incubator.vector", "-XX:TieredStopAtLevel=1",
                "-jar", arguments[0], "--training.output=" + output);
        command.environment().remove("JDK_JAVA_OPTIONS");
        Process application = command.redirectErrorStream(true).start();
        boolean usesCpu = false;
        try (BufferedReader lines = application.inputReader()) {
            for (String line; (line = lines.readLine()) != null;) {
                System.out.println(line);
                usesCpu |= line.equals("Training on cpu");
                if (line.startsWith("step 2:")) {
                    application.toHandle().destroy(); // SIGTERM; Process.destroy would close its output too
                }
            }
        } finally {
            if (!application.waitFor(60, TimeUnit.SECONDS)) {
                application.destroyForcibly();
            }
        }
        require(usesCpu || !isServedByCpu(), "the application trains on a slow engine");
        require(Files.exists(output.resolve("model/model.safetensors")), "the application has left no model");
        try (var checkpoints = Files.list(output.resolve("checkpoints"))) {
            require(checkpoints.findAny().isPresent(), "the application has left no checkpoint");
        }
    }

    /** Whether this machine is one that the engine cpu computes on. */
    private static boolean isServedByCpu() throws Exception {
        Path processor = Path.of("/proc/cpuinfo");
        return Files.exists(processor) && (List.of("aarch64", "arm64").contains(System.getProperty("os.arch"))
                || Files.readString(processor).contains(" avx2 "));
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
