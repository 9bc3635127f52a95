package dev.troupe.cli;

import dev.troupe.cluster.MachineDriver;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.PreparedRun;
import dev.troupe.transport.aeron.SharedDriver;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code troupe media-driver}: the media driver of one host of a cluster, which {@code launch} starts. */
@Command(name = "media-driver", hidden = true, description = "Runs the media driver of a host until it is told to end.")
final class MediaDriverCommand implements Callable<Integer> {
    /** What it says on its output once nodes may come. */
    static final String READY = "the media driver is ready";

    @Mixin
    private ClusterFile file;

    @Parameters(index = "1", paramLabel = "HOST", description = "The host, as it stands in cluster.nodes.")
    private String host;

    @Mixin
    private ParentWatch parent;

    @Override
    public Integer call() throws InterruptedException {
        parent.begin();
        RunSpec spec = file.read();
        NodeSpec any = spec.cluster().orElseThrow().nodesOn(host).getFirst();
        CountDownLatch end = new CountDownLatch(1);
        SharedDriver driver;
        try (PreparedRun run = new PreparedRun(file.request(spec, any))) {
            driver = MachineDriver.start(run, host);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            driver.close();
            end.countDown();
        }, "media-driver-end"));
        System.out.println(READY);
        end.await();
        return ExitCode.DONE;
    }
}
