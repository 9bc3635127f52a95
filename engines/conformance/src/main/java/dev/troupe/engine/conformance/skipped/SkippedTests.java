package dev.troupe.engine.conformance.skipped;

import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.TestAbortedException;

/**
 * The sentence on the console for each test that did not run here: a build that says only "Skipped: 1" hides that, for
 * example, there is no browser. Found by the service loader in every module that has this one on the class path of its
 * tests.
 */
public final class SkippedTests implements TestWatcher, LifecycleMethodExecutionExceptionHandler {
    private final PrintStream console;

    /** Writes to the standard error, which the build passes on. */
    public SkippedTests() {
        this(System.err); // before a test puts another stream in its place
    }

    /** Writes to a stream. */
    public SkippedTests(PrintStream console) {
        this.console = console;
    }

    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        say(context, reason.orElse("no reason is given"));
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        say(context, String.valueOf(cause.getMessage()).replaceFirst("^Assumption failed: ", ""));
    }

    /** A class whose tests all need what is not here. */
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
