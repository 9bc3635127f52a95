package dev.troupe.bench.page;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.Samples;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.http.PageServer;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The time in which the page shows another step. Prints the table of {@code bench/page/README.md}. */
@Command(name = "bench/page/run", mixinStandardHelpOptions = true, description = {
        "Shows the steps of a run one after the other in Chromium, 1280 wide, and measures each refresh of the page."})
public final class RefreshBenchmark implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String READY = """
            const look = () => document.body.dataset.ready === 'true' ? arguments[0]() : setTimeout(look, 50);
            look();""";
    /** Shows a step, and returns its milliseconds: until it is there, to draw, and until the picture is on the screen. */
    private static final String REFRESH = """
            const done = arguments[arguments.length - 1];
            const begun = performance.now();
            show(arguments[0]).then(() => {
              const shown = performance.now() - begun;
              requestAnimationFrame(() => setTimeout(() =>
                done([shown, Number(document.body.dataset.redrawMs), performance.now() - begun])));
            });""";

    @Option(names = "--refreshes", defaultValue = "60", description = "Refreshes to measure, after as many to warm up: ${DEFAULT-VALUE}.")
    private int refreshes;

    @Parameters(paramLabel = "RUN", description = "The directory of a run that is over.")
    private Path run;

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RefreshBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() {
        RunPage page = new RunPage(run);
        try (PageServer server = PageServer.open(0, "--port", page.routes())) {
            ChromeDriver browser = browser();
            try {
                browser.get(server.address().toString());
                browser.executeAsyncScript(READY);
                System.out.print(measure(browser));
            } finally {
                browser.quit();
            }
        }
        return 0;
    }

    private static ChromeDriver browser() {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(new File("/usr/bin/chromium"));
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--window-size=1280,1000");
        ChromeDriver browser = new ChromeDriver(new ChromeDriverService.Builder()
                .usingDriverExecutable(new File("/usr/bin/chromedriver")).build(), options);
        browser.manage().timeouts().scriptTimeout(PATIENCE);
        return browser;
    }

    private MarkdownTable measure(ChromeDriver browser) {
        List<?> steps = (List<?>) browser
                .executeScript("return page.steps.filter(step => step.traced).map(step => step.step)");
        Samples there = new Samples();
        Samples drawn = new Samples();
        Samples seen = new Samples();
        for (int refresh = -refreshes; refresh < refreshes; refresh++) {
            // Another step than before: the page has no copy of it.
            Object step = steps.get(Math.floorMod(refresh, steps.size()));
            List<?> millis = (List<?>) browser.executeAsyncScript(REFRESH, step);
            if (refresh >= 0) {
                there.add(((Number) millis.get(0)).doubleValue());
                drawn.add(((Number) millis.get(1)).doubleValue());
                seen.add(((Number) millis.get(2)).doubleValue());
            }
        }
        MarkdownTable table = new MarkdownTable("refresh, ms", "least", "median", "90 of 100");
        row(table, "asked, read, drawn", there);
        row(table, "of that drawn", drawn);
        row(table, "until the next frame is done", seen);
        return table;
    }

    private static void row(MarkdownTable table, String what, Samples samples) {
        table.row(what, shown(samples.least()), shown(samples.median()), shown(samples.quantile(0.9)));
    }

    private static String shown(double millis) {
        return String.format(Locale.ROOT, "%.0f", millis);
    }
}
