package dev.troupe.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.cli.progress.CoordinatorConsole;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.protocol.supervisor.RunRestarts;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A supervisor that starts no process, since it is stopped first. */
class ProcessSupervisorTest {
    @TempDir
    private Path directory;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private ProcessSupervisor supervisor() {
        RunSpec spec = RunSpecReader.read(Optional.empty(), List.of("parallel.pipeline=2", "cluster.nodes=["
                + "{name=a,host=127.0.0.1,control-port=1024,data-port=1025,management-port=1026},"
                + "{name=b,host=127.0.0.1,control-port=1027,data-port=1028,management-port=1029}]"));
        return new ProcessSupervisor(null, spec, spec.cluster().orElseThrow().nodes(), directory, directory,
                Optional.empty(), 1, new RunRestarts(true, 1, OptionalLong.empty()),
                new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    private List<String> lines() {
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldPrintTheLinesOfTheCoordinatorAlone() throws InterruptedException {
        ProcessSupervisor supervisor = supervisor();
        supervisor.show("b", "of the other");
        supervisor.show("a", "step 1");
        supervisor.show("b", CoordinatorConsole.TAKEN_OVER);
        supervisor.show("a", "of the former");
        supervisor.show("b", "step 2");
        assertEquals(List.of("step 1", "b leads the run from here", "step 2"), lines());
    }

    /** A node that this process ends may still print its own end, which is not the run's. */
    @Test
    void shouldPrintNothingOfNodesThatItEnds() throws InterruptedException {
        ProcessSupervisor supervisor = supervisor();
        supervisor.stopNow();
        supervisor.run();
        assertEquals(ExitCode.STOPPED, supervisor.exitCode());
        int before = lines().size();
        supervisor.show("a", "step 1");
        supervisor.show("b", CoordinatorConsole.TAKEN_OVER);
        assertEquals(before, lines().size(), () -> lines().toString());
    }
}
