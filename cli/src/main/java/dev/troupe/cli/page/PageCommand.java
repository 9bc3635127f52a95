package dev.troupe.cli.page;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.look.output.RunFile;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.UsageException;
import dev.troupe.run.http.PageServer;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe page}: serves the page of a run from its directory. */
@Command(name = "page", mixinStandardHelpOptions = true, description = {
        "Serves the page of a run that has ended or is running in another process, on the loopback until Ctrl-C.",
        "Of two runs, also their comparison."})
public final class PageCommand implements Callable<Integer> {
    private static final int MOST_PORT = 65535;

    @Parameters(arity = "1..2", paramLabel = "RUN", description = "The directory of a run, and perhaps of another.")
    private List<Path> runs;

    @Option(names = "--port", paramLabel = "N", defaultValue = "0", description = "The port; 0, the default: a free one.")
    private int port;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        runs.forEach(PageCommand::requireRun);
        if (port < 0 || port > MOST_PORT) {
            throw new UsageException("--port is from 0 to " + MOST_PORT + ", but is " + port);
        }
        RunPage page = new RunPage(runs.getFirst(),
                Optional.of(runs).filter(both -> both.size() > 1).map(List::getLast));
        try (StopRequests requests = StopRequests.listen(output, "The page is not served.", StopRequests.PATIENCE);
                PageServer server = PageServer.open(port, "--port", page.routes())) {
            Ending ending = new Ending();
            requests.running(ending);
            output.println("Page: " + server.address() + " (until Ctrl-C)");
            output.flush();
            ending.asked.await();
        }
        return ExitCode.DONE;
    }

    /** The ordinary end of the page, by Ctrl-C. */
    private static final class Ending implements StopRequests.Stoppable {
        private final CountDownLatch asked = new CountDownLatch(1);

        @Override
        public void stop() {
            asked.countDown();
        }

        @Override
        public void stopNow() {
            asked.countDown();
        }

        @Override
        public boolean answers() {
            return true;
        }
    }

    private static void requireRun(Path run) {
        if (!Files.isRegularFile(run.resolve(RunFile.FILE))) {
            throw new UsageException("there is no " + RunFile.FILE + " in " + run
                    + ": name the directory of a run, as --out named it; a run of an older Troupe has none");
        }
    }
}
