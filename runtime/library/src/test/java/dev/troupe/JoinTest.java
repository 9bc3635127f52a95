package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(120)
class JoinTest {
    @TempDir
    private Path home;

    @Test
    void shouldTrainOnTwoNodesToTheSameLossesAsOne() throws IOException, InterruptedException {
        List<Integer> ports = freePorts();
        Path file = cluster(ports);
        Path text = Files.writeString(home.resolve("text.txt"), SmallTraining.TEXT);
        TrainingSpec spec = SmallTraining.spec(home.resolve("run")).file(file).set("data.path", text).build();
        List<Double> heard = new ArrayList<>();
        TrainingHandle a = Troupe.join(spec, "a", step -> heard.add(step.loss()));
        TrainingHandle b = Troupe.join(spec, "b", TrainingListener.NONE);
        TrainingResult led = a.await();
        TrainingResult followed = b.await();
        assertEquals(heard, led.losses());
        assertTrue(led.model().isPresent());
        assertEquals(Optional.empty(), followed.model());
        assertEquals(4, followed.stepsDone());
        TrainingResult alone = Troupe.train(SmallTraining.spec(home.resolve("alone")).build(),
                TrainingData.ofFiles(text), TrainingListener.NONE);
        assertEquals(alone.losses(), led.losses());
        SmallTraining.requireNothingLeft();
        for (int port : ports) {
            try (ServerSocket _ = new ServerSocket(port); DatagramSocket _ = new DatagramSocket(port)) {
                assertTrue(port > 0);
            }
        }
    }

    /** The error itself is known on the node that threw it; the other nodes receive a sentence. */
    @Test
    void shouldFailOnAllNodesIfTheListenerOfTheLeaderThrowsAnError() throws IOException, InterruptedException {
        Path text = Files.writeString(home.resolve("text.txt"), SmallTraining.TEXT);
        TrainingSpec spec = SmallTraining.spec(home.resolve("run")).file(cluster(freePorts())).set("data.path", text)
                .build();
        Error thrown = new NoClassDefFoundError("com/example/Tickets");
        TrainingHandle a = Troupe.join(spec, "a", _ -> {
            throw thrown;
        });
        TrainingHandle b = Troupe.join(spec, "b", TrainingListener.NONE);
        assertSame(thrown, assertThrows(RunFailedException.class, a::await).getCause());
        RunFailedException followed = assertThrows(RunFailedException.class, b::await);
        assertTrue(followed.getMessage().contains("NoClassDefFoundError: com/example/Tickets"), followed.getMessage());
        SmallTraining.requireNothingLeft();
    }

    private Path cluster(List<Integer> ports) throws IOException {
        return Files.writeString(home.resolve("cluster.conf"), """
                troupe.cluster {
                  name = library-%1$d
                  nodes = [
                    { name = a, host = 127.0.0.1, control-port = %1$d, data-port = %2$d }
                    { name = b, host = 127.0.0.1, control-port = %3$d, data-port = %4$d }
                  ]
                }
                """.formatted(ports.toArray()));
    }

    /** Below the ports that systems hand out, so that no outgoing connection takes one before its node does. */
    private static List<Integer> freePorts() {
        List<Integer> ports = new ArrayList<>();
        int port = 20_000 + (int) (ProcessHandle.current().pid() * 7 % 5_000);
        while (ports.size() < 4) {
            port++;
            try (ServerSocket _ = new ServerSocket(port); DatagramSocket _ = new DatagramSocket(port)) {
                ports.add(port);
            } catch (IOException _) {
                continue; // another program listens there
            }
        }
        return ports;
    }
}
