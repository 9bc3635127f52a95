package dev.troupe.cli.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A browser of this machine without a window; nothing is downloaded if there is none. */
final class Browser implements AutoCloseable {
    private static final Path PROGRAM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Starts a browser; the test is skipped, with a sentence, if there is none. */
    static Browser start() {
        assumeTrue(Files.isExecutable(PROGRAM) && Files.isExecutable(DRIVER),
                "the page is not tested in a browser, since there is no " + PROGRAM + " or no " + DRIVER
                        + ": apt-get install chromium chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(PROGRAM.toFile());
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        Browser browser = new Browser(new ChromeDriver(
                new ChromeDriverService.Builder().usingDriverExecutable(new File(DRIVER.toString())).build(), options));
        browser.size(1280, 1000);
        return browser;
    }

    /** Opens a page and waits until it is drawn. */
    void open(URI address) {
        driver.get(address.toString());
        awaitReady();
    }

    /** Opens a page to which the answers of an address are kept from, until {@link #unblock}. */
    void openWithout(String pattern, URI address) {
        driver.executeCdpCommand("Network.enable", Map.of());
        block(List.of(pattern));
        driver.get(address.toString());
    }

    /** Lets the requests of a page through again. */
    void unblock() {
        block(List.of());
    }

    private void block(List<String> patterns) {
        driver.executeCdpCommand("Network.setBlockedURLs", Map.of("urls", patterns));
    }

    /** Waits until the page is drawn. */
    void awaitReady() {
        await(() -> Boolean.TRUE.equals(script("return document.body.dataset.ready === 'true'")),
                () -> "a page that is drawn, but it says \"" + text("sentences") + "\" and \"" + text("step-text")
                        + "\"");
    }

    void size(int width, int height) {
        driver.manage().window().setSize(new Dimension(width, height));
    }

    WebElement element(String id) {
        return driver.findElement(By.id(id));
    }

    /** The text of an element; empty if the document has none, as before the page has loaded. */
    String text(String id) {
        return driver.findElements(By.id(id)).stream().findFirst().map(WebElement::getText).orElse("");
    }

    int count(String selector) {
        return driver.findElements(By.cssSelector(selector)).size();
    }

    Object script(String script) {
        return driver.executeScript(script);
    }

    /** Waits until a script returns true. */
    void await(String condition) {
        await(() -> Boolean.TRUE.equals(driver.executeScript(condition)), () -> condition);
    }

    /** Waits until an element's text has a part. */
    String awaitText(String id, String part) {
        await(() -> text(id).contains(part), () -> "\"" + part + "\" in \"" + text(id) + "\"");
        return text(id);
    }

    private void await(BooleanSupplier condition, Supplier<String> what) {
        long begun = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - begun < PATIENCE.toNanos(),
                    () -> "expected within " + PATIENCE + ": " + what.get() + ", at " + driver.getCurrentUrl() + " in "
                            + driver.getPageSource());
            LockSupport.parkNanos(50_000_000);
        }
    }

    /** Checks that nothing went wrong in the page; an answer with a sentence in place of an object is no error. */
    void requireNoComplaint() {
        assertEquals(List.of(), driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(Object::toString).filter(line -> !line.contains("the server responded with a status of"))
                .toList());
    }

    @Override
    public void close() {
        driver.quit();
    }
}
