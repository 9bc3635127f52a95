package dev.troupe.cli.stop;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The standard error that this process was meant to have.
 *
 * <p>The JVM warns of the Vector API's incubator module before any code of ours runs. The launcher therefore starts it
 * with a pipe that leaves this line out, and says in a system property which descriptor the real standard error has.
 */
public final class StandardError {
    /** The property that the launcher sets; no process but the launcher's own may read it. */
    public static final String PROPERTY = "troupe.stderr";
    /** What a JVM says first that was told to add the module. */
    public static final String INCUBATOR_WARNING = "WARNING: Using incubator modules: jdk.incubator.vector";

    private static final int STDERR = 2;

    private StandardError() {
    }

    /**
     * Begins to put the real one in place, which takes a tenth of a second that other work may use.
     *
     * @return the thread that does; the launcher's pipe serves until it has ended, and where it fails
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
            int _ = (int) dup2.invokeExact(descriptor, STDERR); // where it fails, the pipe stays, which loses nothing
        } catch (Throwable failure) {
            throw new AssertionError("dup2 throws nothing", failure);
        }
    }
}
