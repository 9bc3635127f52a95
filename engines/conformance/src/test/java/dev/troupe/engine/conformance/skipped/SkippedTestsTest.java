package dev.troupe.engine.conformance.skipped;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opentest4j.TestAbortedException;

@Tag("plan")
class SkippedTestsTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final SkippedTests skipped = new SkippedTests(new PrintStream(said, true, StandardCharsets.UTF_8));

    private ExtensionContext context(Optional<Method> method) {
        return (ExtensionContext) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[]{ExtensionContext.class}, (_, called, _) -> switch (called.getName()) {
                    case "getRequiredTestClass" -> getClass();
                    case "getTestMethod" -> method;
                    case "getDisplayName" -> "all";
                    default -> throw new AssertionError(called);
                });
    }

    @Test
    void shouldReportWhyATestDidNotRun() throws NoSuchMethodException {
        ExtensionContext one = context(Optional.of(getClass().getDeclaredMethod("shouldReportWhyATestDidNotRun")));
        skipped.testAborted(one, new TestAbortedException("Assumption failed: there is no browser\nand no more"));
        skipped.testDisabled(one, Optional.of("not a quiet machine"));
        TestAbortedException absent = new TestAbortedException("Assumption failed: no library");
        assertSame(absent, assertThrows(TestAbortedException.class,
                () -> skipped.handleBeforeAllMethodExecutionException(context(Optional.empty()), absent)));
        assertThrows(IllegalStateException.class, () -> skipped.handleBeforeAllMethodExecutionException(
                context(Optional.empty()), new IllegalStateException("a failure, which the build reports")));
        skipped.testDisabled(context(Optional.empty()), Optional.empty());
        assertEquals("""
                Skipped: SkippedTestsTest.shouldReportWhyATestDidNotRun: there is no browser
                Skipped: SkippedTestsTest.shouldReportWhyATestDidNotRun: not a quiet machine
                Skipped: SkippedTestsTest.all: no library
                Skipped: SkippedTestsTest.all: no reason is given
                """, said.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldBeFoundByEveryModuleThatHasThisOne() {
        assertTrue(ServiceLoader.load(Extension.class).stream()
                .anyMatch(found -> found.type().equals(SkippedTests.class)));
    }
}
