package dev.troupe.run.news;

import dev.troupe.protocol.watch.MachineLoad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The load of this machine as Linux reports it; empty on other systems. Thread rule: any thread. */
public final class MachineLoads {
    private static final Pattern RUNNABLE = Pattern.compile("\\S+ \\S+ \\S+ (\\d{1,9})/.*\\R?");
    private static final Pattern CORE = Pattern.compile("cpu\\d+ .*");

    private MachineLoads() {
    }

    /** Returns the present load of the whole machine, also inside a container. */
    public static Optional<MachineLoad> now() {
        return read(Path.of("/proc/loadavg"), Path.of("/proc/stat"));
    }

    static Optional<MachineLoad> read(Path average, Path processor) {
        try (Stream<String> lines = Files.lines(processor)) {
            int cores = (int) lines.filter(CORE.asMatchPredicate()).count();
            Matcher runnable = RUNNABLE.matcher(Files.readString(average));
            return runnable.matches() && cores > 0
                    ? Optional.of(new MachineLoad(Integer.parseInt(runnable.group(1)), cores))
                    : Optional.empty();
        } catch (IOException unknown) {
            return Optional.empty();
        }
    }
}
