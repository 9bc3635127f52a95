package dev.troupe.cli.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.Execution;
import dev.troupe.cli.FreePorts;
import dev.troupe.cli.GatedEngineProvider;
import dev.troupe.cli.GatedEngineProvider.Gate;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.http.PageServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

/** The page in a browser. */
@Tag("real")
@Timeout(300)
class PageBrowserTest {
    /** The longest time of a step while the test looks at a run that trains: five seconds would count as a stall. */
    private static final Duration PACE = Duration.ofSeconds(3);
    /** The longest time of a state that does not pass while a rank waits. */
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    @TempDir
    private Path directory;

    private static List<String> settings(String... more) {
        List<String> settings = new ArrayList<>(List.of("engine.kind=emulated", "parallel.pipeline=4",
                "training.global-batch-size=8", "engine.emulated.forward=4ms"));
        settings.addAll(List.of(more));
        return settings;
    }

    /** A model with steps of some milliseconds, on two ranks that compute. */
    private static List<String> small(List<Gate> gates, String... more) {
        List<String> settings = new ArrayList<>(List.of(GatedEngineProvider.reference(gates), "parallel.pipeline=2",
                "model.layers=2", "model.hidden=16", "model.heads=2", "model.sequence-length=16"));
        settings.addAll(List.of(more));
        return settings;
    }

    private static PageServer serve(Path run, Optional<Path> other) {
        RunPage page = new RunPage(run, other);
        return PageServer.open(0, "--port", page.routes());
    }

    @Test
    void shouldShowEverySectionOfARunThatIsOver() throws IOException {
        Path run = directory.resolve("run");
        Execution.train(run, settings("training.steps=9")).requireDone();
        Files.writeString(run.resolve("events.jsonl"), "{\"event\":\"checkpoint-failed\",\"time_ms\":1,\"epoch\":0,"
                + "\"step\":9,\"sentence\":\"<b>full</b>\"}\n", StandardOpenOption.APPEND);
        try (PageServer server = serve(run, Optional.of(run)); Browser browser = Browser.start()) {
            browser.open(server.address());
            assertEquals("first-run", browser.text("name"));
            assertEquals("DONE", browser.text("health"));
            assertTrue(browser.text("plan").startsWith("1f1b P4 V1 M4"), browser.text("plan"));
            assertTrue(browser.text("figures").contains("9 of 9"), browser.text("figures"));
            assertTrue(browser.text("step-text").startsWith("step 8: measured "), browser.text("step-text"));
            browser.element("timeline").sendKeys(Keys.HOME, Keys.ARROW_DOWN);
            assertTrue(browser.text("detail").startsWith("rank 1 "), browser.text("detail"));
            browser.element("timeline").sendKeys(Keys.ARROW_RIGHT);
            browser.awaitText("detail", " after it was sent, "); // its message is asked for when it is pointed at
            assertEquals(5, browser.count("#bars .row"));
            assertTrue(browser.text("causes").contains("plan"));
            assertEquals(3, browser.count("#trend canvas"));
            assertEquals(4, browser.count("#memory .row"));
            assertTrue(browser.count("#hops td.edge") >= 6);
            browser.awaitText("events", "all 9 steps are done");
            browser.awaitText("events", "<b>full</b>"); // the content of files is text, never markup
            browser.awaitText("ab", "are the same to the bit");
            browser.awaitText("whatif-schedule", "zb-h1");
            browser.element("whatif").submit();
            browser.awaitText("whatif-answer", "1.000 times as long");
            browser.element("back").click();
            browser.awaitText("step-text", "step 7: ");
            assertEquals("true", browser.element("freeze").getAttribute("aria-pressed"));
            browser.size(500, 1000);
            browser.await("return document.getElementById('timeline').clientWidth === 0"
                    + " && document.querySelectorAll('#ranks-list li').length === 4"
                    + " && document.documentElement.scrollWidth <= document.documentElement.clientWidth");
            browser.requireNoComplaint();
        }
    }

    @Test
    @Tag("long")
    void shouldNameTheStragglerOfARunInProgress() throws Exception {
        List<Gate> gates = List.of(new Gate(0, 0, 20, PACE));
        try (Browser browser = Browser.start();
                Live live = new Live(directory.resolve("run"), gates,
                        settings(GatedEngineProvider.emulated(gates), "training.steps=80",
                                "faults=[\"slow stage=2 at=B factor=4 times=0\"]"))) {
            browser.open(live.address());
            assertEquals("TRAINING", browser.text("health"));
            Object first = browser.script("return document.body.dataset.step");
            browser.await("return document.body.dataset.step !== '" + first + "'"); // it is drawn again without being asked
            assertTrue(browser.awaitText("sentences", "straggler").contains("2"),
                    browser.text("sentences"));
            assertTrue(browser.text("fresh").startsWith("live"), browser.text("fresh"));
            browser.requireNoComplaint();
        }
    }

    @Test
    @Tag("long")
    void shouldShowAHangAndItsRecovery() throws Exception {
        Gate beforeTheHang = new Gate(1, 0, 3, Duration.ofSeconds(1)); // ten times a wait are no longer than the hang timeout
        List<Gate> gates = List.of(beforeTheHang, new Gate(1, 1, 1, PACE));
        try (Browser browser = Browser.start();
                Live live = new Live(directory.resolve("run"), gates, small(gates, "training.steps=180",
                        "training.global-batch-size=4", "recovery.hang-timeout=20s",
                        "faults=[\"hang stage=1 step=90 microbatch=1 at=F\"]"))) {
            browser.openWithout("*/memory", live.address());
            browser.awaitText("step-text", "Failed to fetch");
            browser.unblock();
            browser.awaitReady(); // a request that failed at first is repeated
            beforeTheHang.open();
            browser.awaitText("health", "STALLED");
            assertTrue(browser.text("sentences").contains("the run is stalled"), browser.text("sentences"));
            browser.awaitText("events", "recovery-begins");
            browser.awaitText("health", "TRAINING epoch 1");
            browser.awaitText("events", "caught up");
            browser.element("events").findElement(By.tagName("button")).click();
            browser.awaitText("stack", "hang");
        }
    }

    @Test
    @Tag("long")
    void shouldShowARecoveryInProgress() throws Exception {
        Gate beforeItRepeats = new Gate(1, 1, 0, PATIENCE);
        List<Gate> gates = List.of(beforeItRepeats, new Gate(1, 1, 1, PACE));
        try (Browser browser = Browser.start();
                Live live = new Live(directory.resolve("run"), gates, small(gates, "training.steps=60",
                        "training.global-batch-size=16", "training.validate-every=0",
                        "recovery.hang-timeout=" + PATIENCE.toSeconds() + "s",
                        "faults=[\"exception stage=1 step=4 microbatch=7 at=B\"]"))) {
            browser.open(live.address());
            browser.awaitText("health", "RECOVERING epoch 1");
            String why = browser.awaitText("sentences", "The run recovers, since ");
            assertTrue(why.contains("injected: exception stage=1 step=4 microbatch=7 at=B"), why);
            browser.awaitText("events", "recovery-begins");
            beforeItRepeats.open();
            browser.awaitText("health", "TRAINING epoch 1");
            browser.awaitText("events", "rank 1 has caught up");
            browser.requireNoComplaint();
        }
    }

    @Test
    @Tag("long")
    void shouldDrawSixtyFourRanks() {
        Path run = directory.resolve("run");
        Execution.train(run, List.of("engine.kind=emulated", "parallel.pipeline=64", "model.layers=62",
                "training.global-batch-size=32", "training.microbatch-size=1", "engine.emulated.forward=1ms",
                "engine.emulated.backward-input=1ms", "engine.emulated.backward-weight=1ms", "training.steps=4"))
                .requireDone();
        try (PageServer server = serve(run, Optional.empty()); Browser browser = Browser.start()) {
            browser.open(server.address());
            assertTrue(browser.text("step-text").startsWith("step 3: "), browser.text("step-text"));
            assertEquals(65, browser.count("#bars .row"));
            browser.element("timeline").sendKeys(Keys.HOME, Keys.ARROW_RIGHT);
            assertTrue(browser.text("detail").startsWith("rank 0 "), browser.text("detail"));
        }
    }

    /** A run in progress in this JVM, with its page; it may end when this is closed. */
    private static final class Live implements AutoCloseable {
        private final int port = FreePorts.find(1).getFirst();
        private final List<Gate> gates;
        private final CompletableFuture<Execution> training;

        Live(Path run, List<Gate> gates, List<String> settings) {
            this.gates = gates;
            List<String> all = new ArrayList<>(settings);
            all.add("observe.port=" + port);
            training = CompletableFuture.supplyAsync(() -> Execution.train(run, all));
            while (!isOpen() || !Files.exists(run.resolve("steps"))) {
                assertFalse(training.isDone(), () -> training.join().errors());
                LockSupport.parkNanos(20_000_000); // the test's own time is the bound
            }
        }

        private boolean isOpen() {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
                return true;
            } catch (IOException _) {
                return false;
            }
        }

        URI address() {
            return URI.create("http://127.0.0.1:" + port + "/");
        }

        @Override
        public void close() {
            gates.forEach(Gate::open);
            training.join().requireDone();
        }
    }
}
