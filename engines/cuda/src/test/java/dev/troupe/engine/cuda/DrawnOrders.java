package dev.troupe.engine.cuda;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Draws the orders of each test from a seed, which follows from its name, so that it draws the same alone as among others. A
 * test that fails names its seed; the system property {@value #PROPERTY} sets another.
 */
final class DrawnOrders implements InvocationInterceptor {
    private static final String PROPERTY = "troupe.orders";

    @Override
    public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext context,
            ExtensionContext extension) throws Throwable {
        draw(invocation, extension);
    }

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> context,
            ExtensionContext extension) throws Throwable {
        draw(invocation, extension);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> context,
            ExtensionContext extension) throws Throwable {
        draw(invocation, extension);
    }

    private static void draw(Invocation<Void> invocation, ExtensionContext test) throws Throwable {
        long seed = Long.getLong(PROPERTY, test.getDisplayName().hashCode());
        Interpreted.drawFrom(seed);
        try {
            invocation.proceed();
        } catch (TestAbortedException aborted) {
            throw aborted;
        } catch (Throwable failure) {
            throw new AssertionError(failure.getMessage() + " (orders drawn from -D" + PROPERTY + "=" + seed + ")",
                    failure);
        }
    }
}
