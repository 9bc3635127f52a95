package dev.troupe.engine.conformance.share;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The condition under which a {@link Dealt} test runs. {@code -Dtroupe.sweep.seed=N} deals another share. A command that
 * names its tests ({@code -Dtest=...}), or excludes none ({@code -DexcludedGroups=}), runs them all.
 */
public final class Deal implements ExecutionCondition {
    /** The begin of the reason for skipping a test that is not in this share. */
    public static final String REASON = "in another share of ";
    private static final Pattern TEMPLATE = Pattern.compile("\\[test-template:");
    private static final Pattern INVOCATION = Pattern.compile("\\[test-template-invocation:#(\\d+)]");
    private static final Deal OF_THIS_BUILD = new Deal(Long.getLong("troupe.sweep.seed", 0),
            System.getProperty("test") != null || "".equals(System.getProperty("excludedGroups")));

    private final long seed;
    private final boolean isWhole;

    /** Creates the condition with the share of this build; JUnit calls it for each annotation. */
    public Deal() {
        this(OF_THIS_BUILD.seed, OF_THIS_BUILD.isWhole);
    }

    Deal(long seed, boolean isWhole) {
        this.seed = seed;
        this.isWhole = isWhole;
    }

    /** Returns whether a case is in the share of this build, by its name; for tests that loop over their cases. */
    public static boolean has(String name, int shares) {
        return OF_THIS_BUILD.takes(name, 0, shares);
    }

    /** Returns whether a case is in this share; successive cases of one name are in successive shares. */
    boolean takes(String name, int index, int shares) {
        return isWhole || Math.floorMod((long) name.hashCode() + index + seed, shares) == 0;
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<Method> method = context.getTestMethod();
        Matcher invocation = INVOCATION.matcher(context.getUniqueId());
        boolean isCase = invocation.find();
        if (method.isEmpty() || !isCase && TEMPLATE.matcher(context.getUniqueId()).find()) {
            return ConditionEvaluationResult.enabled("its tests are dealt one by one");
        }
        int shares = AnnotationSupport.findAnnotation(method, Dealt.class)
                .or(() -> AnnotationSupport.findAnnotation(context.getRequiredTestClass(), Dealt.class)).orElseThrow()
                .value();
        String name = context.getRequiredTestClass().getSimpleName() + "." + method.get().getName();
        return takes(name, isCase ? Integer.parseInt(invocation.group(1)) : 0, shares)
                ? ConditionEvaluationResult.enabled("in this share")
                : ConditionEvaluationResult.disabled(REASON + shares);
    }
}
