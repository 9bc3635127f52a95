package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The header of a run names the network of its tensors, and a plan with few microbatches. */
@Tag("runtime")
class RunSummaryTest {
    private static final String BETWEEN = "Activations, gradients, collectives and copies of snapshots between processes: ";

    @TempDir
    private Path home;

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "127.0.0.1 ! tcp ! false ! through shared memory",
            "127.0.0.1 ! udp ! false ! through shared memory",
            "127.0.0.1 ! tcp ! true ! through shared memory",
            "127.0.0.2 ! tcp ! false ! through shared memory within a machine, over TCP between machines, in the clear",
            "127.0.0.2 ! udp ! false ! through shared memory within a machine, over UDP between machines, in the clear",
            "127.0.0.2 ! tcp ! true ! through shared memory within a machine, over TCP between machines, inside TLS, "
                    + "which takes a core at either end for * GB/s"})
    void shouldNameTheWireOfACluster(String hostOfB, String network, boolean tls, String wire) throws IOException {
        assertEquals(List.of(BETWEEN + wire), wires(hostOfB, network, tls, true));
    }

    @Test
    void shouldNameNoWireWithinOneProcess() throws IOException {
        assertEquals(List.of(), wires("127.0.0.2", "tcp", false, false));
    }

    @ParameterizedTest
    @CsvSource({"7, 1", "8, 0"})
    void shouldNoteFewMicrobatches(int microbatches, int notes) throws IOException {
        assertEquals(notes, summary("127.0.0.1", false, false, "training.microbatch-size=1",
                "training.global-batch-size=" + microbatches).stream()
                .filter(line -> line
                        .startsWith("Note: " + microbatches + " microbatches are fewer than 4 for each of 2"))
                .count());
    }

    private List<String> wires(String hostOfB, String network, boolean tls, boolean isNode) throws IOException {
        return summary(hostOfB, tls, isNode, "transport.network=" + network).stream()
                .filter(line -> line.contains("between processes") || line.contains("between machines"))
                .map(line -> line.replaceFirst("for [0-9]+[.][0-9] GB/s$", "for * GB/s")).toList();
    }

    private List<String> summary(String hostOfB, boolean tls, boolean isNode, String... more) throws IOException {
        Path config = Files.writeString(home.resolve("cluster.conf"), """
                troupe.cluster {
                  nodes = [
                    { name = a, host = 127.0.0.1, control-port = 1, data-port = 2 }
                    { name = b, host = %s, control-port = 3, data-port = 4 }
                  ]
                  %s
                }
                """.formatted(hostOfB, tls ? "tls { certificate = c.pem, key = k.pem, authority = a.pem }" : ""));
        List<String> settings = Stream.concat(Stream.of("engine.kind=reference", "model.layers=2", "model.hidden=16",
                "training.steps=1", "parallel.pipeline=2"), Stream.of(more)).toList();
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (PreparedRun run = PreparedRun.of(new RunRequest(RunSpecReader.read(Optional.of(config), settings),
                BuiltInCorpus.utf8(), home.resolve("run"), Optional.empty(), OptionalLong.empty(), false,
                isNode ? Optional.of(new RunRequest.Share(List.of(0), List.of(), true)) : Optional.empty()))) {
            RunSummary.print(run, new PrintStream(printed, true, StandardCharsets.UTF_8));
        }
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
