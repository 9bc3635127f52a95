package dev.troupe.cli.stop;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The real standard error of this process.
 *
 * <p>The JVM warns of the Vector API's incubator module before any code of ours runs. The launcher therefore starts it
 * with a pipe that leaves this line out, and names the descriptor of the real standard error in a system property.
 */
public final class StandardError {
    /** The property that the launcher sets; no process but the launcher's own may read it. */
    public static final String PROPERTY = "troupe.stderr";
    /** The first warning of a JVM with the module. */
    public static final String INCUBATOR_WARNING = "WARNING: Using incubator modules: jdk.incubator.vector";

    private static final int STDERR = 2;

    private StandardError() {
    }

    /**
     * Begins to restore the real standard error, in parallel, since it takes a tenth of a second.
     *
     * @return the thread that does so; the launcher's pipe is in use until the thread has ended, and if it fails
     */
    public static Thread restore() {
        Integer descriptor = Integer.getInteger(PROPERTY);
        return Thread.ofPlatform().daemon().name("standard-error").start(() -> {
            if (descriptor != null) {
                replace(descriptor);
            }
        });
    }

    @SuppressWarnings("restricted") // the launcher enables native access
    private static void replace(int descriptor) {
        Linker linker = Linker.nativeLinker();
        FunctionDescriptor twoNumbers = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT);
        try {
            MethodHandle dup2 = linker.downcallHandle(linker.defaultLookup().findOrThrow("dup2"), twoNumbers);
            int _ = (int) dup2.invokeExact(descriptor, STDERR); // if it fails, the pipe remains: no line is lost
        } catch (Throwable failure) {
            throw new AssertionError("dup2 throws nothing", failure);
        }
    }
}
