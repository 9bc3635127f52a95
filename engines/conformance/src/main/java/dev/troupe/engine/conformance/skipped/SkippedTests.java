package dev.troupe.engine.conformance.skipped;

import dev.troupe.engine.conformance.share.Deal;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.TestAbortedException;

/**
 * A listener that prints a sentence for each skipped test: "Skipped: 1" alone would hide that, for example, no browser is
 * installed. The service loader finds it in every module with this one on the class path of its tests.
 */
public final class SkippedTests implements TestWatcher, LifecycleMethodExecutionExceptionHandler {
    private final PrintStream console;

    /** Writes to the standard error, which the build passes on. */
    public SkippedTests() {
        this(System.err); // before a test puts another stream in its place
    }

    public SkippedTests(PrintStream console) {
        this.console = console;
    }

    /** Leaves out tests of another share, which run in the build of another commit. */
    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        if (reason.filter(why -> why.startsWith(Deal.REASON)).isEmpty()) {
            say(context, reason.orElse("no reason is given"));
        }
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        say(context, String.valueOf(cause.getMessage()).replaceFirst("^Assumption failed: ", ""));
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable cause) throws Throwable {
        if (cause instanceof TestAbortedException) {
            testAborted(context, cause);
        }
        throw cause;
    }

    private void say(ExtensionContext context, String reason) {
        console.println("Skipped: " + context.getRequiredTestClass().getSimpleName() + "."
                + context.getTestMethod().map(Method::getName).orElseGet(context::getDisplayName)
                + ": " + reason.lines().findFirst().orElse(""));
    }
}
