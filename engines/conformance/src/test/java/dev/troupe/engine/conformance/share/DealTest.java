package dev.troupe.engine.conformance.share;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

@Tag("plan")
class DealTest {
    private static final int SHARES = 3;

    @Test
    void shouldRunEveryTestOnceInAsManyCommitsAsThereAreShares() {
        for (String name : List.of("a", "RecoveryTest.shouldResume", "\uffff".repeat(9))) {
            for (int index : new int[]{0, 1, 17}) {
                assertEquals(1, LongStream.range(900, 900 + SHARES)
                        .filter(commit -> new Deal(commit, false).takes(name, index, SHARES)).count(), name);
            }
            assertEquals(4, IntStream.rangeClosed(1, 4 * SHARES)
                    .filter(index -> new Deal(7, false).takes(name, index, SHARES)).count(), name);
            assertTrue(
                    IntStream.rangeClosed(1, SHARES).allMatch(index -> new Deal(7, true).takes(name, index, SHARES)));
        }
    }

    @Test
    void shouldDealTestsAndCasesAlone() throws ReflectiveOperationException {
        Deal deal = new Deal(0, false);
        assertFalse(deal.evaluateExecutionCondition(context("[class:Cases]", Optional.empty())).isDisabled());
        assertFalse(deal.evaluateExecutionCondition(context("[class:Cases]/[test-template:cases()]",
                Optional.of("cases"))).isDisabled());
        assertEquals(1, runs("[class:Cases]/[method:test()]", "test"));
        assertEquals(2, IntStream.rangeClosed(1, 2 * SHARES).filter(index -> !deal.evaluateExecutionCondition(context(
                "[class:Cases]/[test-template:cases()]/[test-template-invocation:#" + index + "]",
                Optional.of("cases")))
                .isDisabled()).count());
        // A method has more shares than its class: it is in one of nine commits, not of three.
        assertEquals(1, LongStream.range(0, 9).filter(commit -> !new Deal(commit, false)
                .evaluateExecutionCondition(context("[class:Cases]/[method:rare()]", Optional.of("rare"))).isDisabled())
                .count());
        String reason = LongStream.range(0, SHARES)
                .mapToObj(commit -> new Deal(commit, false)
                        .evaluateExecutionCondition(context("[class:Cases]/[method:test()]", Optional.of("test"))))
                .filter(result -> result.isDisabled()).findFirst().orElseThrow().getReason().orElseThrow();
        assertEquals("in another share of 3", reason);
    }

    private static long runs(String uniqueId, String method) {
        return LongStream.range(0, SHARES).filter(commit -> !new Deal(commit, false)
                .evaluateExecutionCondition(context(uniqueId, Optional.of(method))).isDisabled()).count();
    }

    private static ExtensionContext context(String uniqueId, Optional<String> method) {
        return (ExtensionContext) Proxy.newProxyInstance(DealTest.class.getClassLoader(),
                new Class<?>[]{ExtensionContext.class}, (_, called, _) -> switch (called.getName()) {
                    case "getRequiredTestClass" -> Cases.class;
                    case "getTestMethod" ->
                        method.isPresent()
                                ? Optional.of(Cases.class.getDeclaredMethod(method.get()))
                                : Optional.empty();
                    case "getUniqueId" -> uniqueId;
                    default -> throw new AssertionError(called);
                });
    }

    /** Tests that are dealt. */
    @Dealt(SHARES)
    private static final class Cases {
        void test() {
        }

        void cases() {
        }

        @Dealt(9)
        void rare() {
        }
    }
}
