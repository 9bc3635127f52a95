package dev.troupe.cli.launch;

import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.ParentWatch;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.transport.driver.DriverHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code troupe media-driver}: the media driver of one host of a cluster, which {@code launch} starts. */
@Command(name = "media-driver", hidden = true, description = "Runs the media driver of a host until it is asked to stop.")
public final class MediaDriverCommand implements Callable<Integer> {
    /** The line on its output once nodes may connect. */
    static final String READY = "the media driver is ready";

    @Mixin
    private ClusterFile file;

    @Parameters(index = "1", paramLabel = "HOST", description = "The host, as written in cluster.nodes.")
    private String host;

    @Mixin
    private ParentWatch parent;

    @Override
    public Integer call() throws InterruptedException {
        try (StopRequests requests = StopRequests.listen(System.out, "Stopped before it began.",
                StopRequests.PATIENCE)) {
            parent.begin(requests);
            RunSpec spec = file.read();
            NodeSpec any = spec.cluster().orElseThrow().nodesOn(host).getFirst();
            try (OpenedRun opened = OpenedRun.of(file.request(spec, any))) {
                PlannedRun run = PlannedRun.of(opened);
                requests.starting();
                try (DriverHandle driver = MachineDriver.start(run, host)) {
                    Ending ending = new Ending();
                    requests.running(ending);
                    System.out.println(READY);
                    ending.await(driver);
                }
            }
            return ExitCode.DONE;
        }
    }

    /**
     * The end of the driver. At the first request it waits for the last node that uses the driver: SIGTERM may be for all
     * processes of a run, and its last step needs the driver.
     */
    private static final class Ending implements StopRequests.Stoppable {
        private static final long LOOK_MILLIS = 50;

        private final CountDownLatch now = new CountDownLatch(1);
        private volatile boolean isAsked;

        @Override
        public void stop() {
            isAsked = true;
            System.out.println("the media driver ends with the last node that uses it");
        }

        @Override
        public void stopNow() {
            now.countDown();
        }

        @Override
        public boolean answers() {
            return true;
        }

        void await(DriverHandle driver) throws InterruptedException {
            while (!now.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                if (isAsked && !driver.hasClients()) {
                    return;
                }
            }
        }
    }
}
