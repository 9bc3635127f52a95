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
    /** The begin of the reason of a test that belongs to other shares. */
    public static final String REASON = "in another share of ";
    private static final Pattern TEMPLATE = Pattern.compile("\\[test-template:");
    private static final Pattern INVOCATION = Pattern.compile("\\[test-template-invocation:#(\\d+)]");
    private static final Deal OF_THIS_BUILD = new Deal(Long.getLong("troupe.sweep.seed", 0),
            System.getProperty("test") != null || "".equals(System.getProperty("excludedGroups")));

    private final long seed;
    private final boolean isWhole;

    /** The deal of this build. JUnit makes one for each annotation. */
    public Deal() {
        this(OF_THIS_BUILD.seed, OF_THIS_BUILD.isWhole);
    }

    Deal(long seed, boolean isWhole) {
        this.seed = seed;
        this.isWhole = isWhole;
    }

    /** Returns whether this build has the case of a name, for tests that make their cases themselves. */
    public static boolean has(String name, int shares) {
        return OF_THIS_BUILD.takes(name, 0, shares);
    }

    /** Returns whether this build has a case; cases of one name are dealt to the shares in rotation. */
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
