package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.prepare.NodeRequests;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.profile.LinkSamples;
import dev.troupe.run.cluster.links.LinkProfiler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes measure the ways between them: two on one machine, in shared memory, and one of another host, by connections. */
@Tag("real")
@Timeout(120)
class LinkProfilerTest {
    private final LocalCluster cluster = LocalCluster.of(3);

    @TempDir
    private Path directory;

    private RunSpec spec(String... settings) throws IOException {
        Path file = cluster.write(directory.resolve("links.conf"), """
                parallel.pipeline = 3
                engine.kind = reference
                model { layers = 4, hidden = 16, heads = 2, sequence-length = 16 }
                training.microbatch-size = 2
                """, cluster.node(0, ""), cluster.node(1, ""), cluster.node(2, "127.0.0.2", ""));
        return RunSpecReader.read(Optional.of(file), List.of(settings));
    }

    private List<LinkSamples> measured(RunSpec spec, int node) throws InterruptedException {
        NodeSpec self = spec.cluster().orElseThrow().nodes().get(node);
        try (OpenedRun run = OpenedRun.of(NodeRequests.of(spec, self, directory.resolve("run"), Optional.empty()))) {
            return LinkProfiler.measure(PlannedRun.of(run), self);
        }
    }

    @Test
    void shouldMeasureEachDirectionByTheTransportOfARun() throws Exception {
        RunSpec spec = spec();
        List<List<LinkSamples>> found = new ArrayList<>();
        try (ExecutorService nodes = Executors.newFixedThreadPool(3)) {
            List<Callable<List<LinkSamples>>> all = new ArrayList<>();
            for (int node = 0; node < 3; node++) {
                int self = node;
                all.add(() -> measured(spec, self));
            }
            for (Future<List<LinkSamples>> one : nodes.invokeAll(all)) {
                found.add(one.get());
            }
        }
        List<LinkSamples> links = found.getFirst();
        assertEquals("a b, a c, b a, b c, c a, c b",
                links.stream().map(link -> link.from() + " " + link.to()).collect(Collectors.joining(", ")));
        assertEquals(List.of(links, links, links), found, "all nodes have the samples of all");
        for (LinkSamples link : links) {
            assertEquals(2 * 16 * 16 * Float.BYTES, link.messageBytes());
            assertTrue(link.latencyNanos().size() >= 10 && link.bytesPerSecond().size() >= 5, link.toString());
            assertTrue(link.hop().latencyNanos() > 0 && link.hop().latencyNanos() < 1_000_000_000L, link.toString());
            assertTrue(link.hop().bytesPerSecond() > 1e4, link.toString());
        }
        cluster.requireNothingLeft();
    }

    @Test
    void shouldNameTheNodeThatDoesNotCome() throws Exception {
        RunSpec spec = spec("cluster.join-timeout=2s");
        UsageException refused = assertThrows(UsageException.class, () -> measured(spec, 0));
        assertTrue(refused.getMessage().contains("node b has sent nothing to node a within 2 seconds"),
                refused.getMessage());
        cluster.requireNothingLeft();
    }
}
