package dev.troupe.cli;

import dev.troupe.cli.options.VersionOption;
import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.DataType;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.ProductLibraries;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code troupe doctor}: the check of this machine for all that Troupe needs, with advice for each failure. */
@Command(name = "doctor", mixinStandardHelpOptions = true, description = {
        "Checks what works on this machine, and names a remedy for the rest."})
final class DoctorCommand implements Callable<Integer> {
    private static final int LEAST_JAVA = 25;
    /** The column at which results begin. */
    private static final String INDENT = " ".repeat(23);
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private final PrintStream output = System.out;
    private final Terminal terminal = Terminal.ofOutput();
    private boolean isHealthy = true;

    @Override
    public Integer call() {
        java();
        engines();
        sharedMemory();
        transport();
        loopback();
        output.println(isHealthy
                ? "This machine has everything that a run needs: try ./troupe train"
                : "This machine lacks something that a run needs: see the lines marked NO.");
        return isHealthy ? ExitCode.DONE : ExitCode.RUN_FAILED;
    }

    private void java() {
        Runtime.Version version = Runtime.version();
        report(version.feature() >= LEAST_JAVA, true, "JDK", version + " (" + System.getProperty("java.vm.name") + "), "
                + Runtime.getRuntime().availableProcessors() + " cores, heap of at most "
                + mebibytes(Runtime.getRuntime().maxMemory()), "install a JDK " + LEAST_JAVA);
    }

    private void engines() {
        boolean found = false;
        List<ProductTrial> trials = new ArrayList<>();
        for (EngineProvider provider : EngineChoice.installed()) {
            EngineSettings single = new EngineSettings(DataType.FLOAT32, 1);
            Optional<String> obstacle = provider.obstacle(single);
            found |= obstacle.isEmpty();
            report(obstacle.isEmpty(), false, "engine " + provider.kind(), obstacle.orElseGet(provider::description),
                    "");
            provider.findings().forEach(
                    finding -> report(finding.isFound(), false, "  " + finding.what(), finding.words(), ""));
            if (obstacle.isEmpty() && provider.serves(Capability.VALUES)) {
                trial(provider, single).ifPresent(trials::add);
                EngineSettings mixed = new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1);
                if (provider.serves(mixed)) {
                    trial(provider, mixed).ifPresent(trials::add);
                }
            }
            provider.productLibraries().filter(_ -> obstacle.isEmpty()).ifPresent(this::products);
            provider.limit().ifPresent(limit -> report(false, false, "limit of " + provider.kind(), limit, ""));
        }
        if (!found) {
            report(false, true, "engines", "none works on this machine", "see the reasons above");
        }
        trials.stream().filter(ProductTrial::isRight).max(Comparator.comparingDouble(ProductTrial::flops))
                .ifPresent(fastest -> report(true, false, "fastest", "engine.kind = " + fastest.provider().kind()
                        + " with training.precision = " + fastest.precision()
                        + ", by these products; other kernels, and other machines of a cluster, were not measured",
                        ""));
    }

    /** Prints the table of products, measured first if it is missing; a run needs no table. */
    private void products(ProductLibraries libraries) {
        try {
            libraries.measured(EngineChoice.cache()).forEach(line -> report(true, false, "  products", line, ""));
        } catch (IllegalStateException refused) {
            report(false, false, "  products", refused.getMessage(), "");
        }
    }

    /** Multiplies, and prints whether the product is right. */
    private Optional<ProductTrial> trial(EngineProvider provider, EngineSettings settings) {
        String what = provider.kind() + " " + settings.computeType().name().toLowerCase(Locale.ROOT);
        try {
            ProductTrial trial = ProductTrial.of(provider, settings);
            report(trial.isRight(), true, what, trial.text() + provider.caution(settings)
                    .filter(_ -> trial.isRight()).map(sentence -> "; " + sentence).orElse(""), "");
            return Optional.of(trial);
        } catch (IllegalStateException failure) {
            report(false, true, what, failure.getMessage(), "take another engine, and report this");
            return Optional.empty();
        }
    }

    private void sharedMemory() {
        if (!Files.isDirectory(SHARED_MEMORY)) {
            report(false, false, "/dev/shm", "missing, so the media driver's files go to "
                    + System.getProperty("java.io.tmpdir"), "");
            return;
        }
        report(true, false, "/dev/shm", mebibytes(SHARED_MEMORY.toFile().getUsableSpace()) + " free", "");
    }

    private void transport() {
        TransportSettings settings = TransportSettings.defaults();
        try (Transport transport = LinkTransport.start(NodeMap.single(1), settings)) {
            report(true, true, "Aeron", "the media driver starts and stops" + (transport.pending().isEmpty()
                    ? ""
                    : ","
                            + " but something is pending"),
                    "");
        } catch (TransportException failure) {
            report(false, true, "Aeron", failure.getMessage(), "");
        }
    }

    private void loopback() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            report(true, false, "ports", "a port of the loopback address can be opened (" + socket.getLocalPort()
                    + "); a run in one JVM needs none", "");
        } catch (IOException failure) {
            report(false, false, "ports", "no port of the loopback address can be opened: " + failure.getMessage()
                    + "; a run in one JVM needs none", "");
        }
    }

    private void report(boolean isGood, boolean isNeeded, String what, String found, String advice) {
        isHealthy &= isGood || !isNeeded;
        String mark = isGood ? terminal.green("yes") : isNeeded ? terminal.red("NO ") : "-  ";
        String words = found + (isGood || advice.isEmpty() ? "" : ": " + advice);
        int width = terminal.tableColumns().orElse(Integer.MAX_VALUE);
        output.println(
                mark + String.format(Locale.ROOT, " %-18s ", what) + Columns.wrapped(words, width - INDENT.length(), "")
                        .replace("\n", "\n" + INDENT));
    }

    private static String mebibytes(long bytes) {
        return (bytes >> 20) + " MiB";
    }
}
