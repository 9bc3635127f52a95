package dev.troupe;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** The flags that a JVM needs before a run can start in it. */
final class JvmFlags {
    private static final String INTERNALS = "jdk.internal.misc";
    private static final String VECTORS = "jdk.incubator.vector";
    private static final String UNSAFE = "--sun-misc-unsafe-memory-access=allow";
    /** An accepted flag, with which the JVM warns. */
    private static final String UNSAFE_WITH_WARNING = "--sun-misc-unsafe-memory-access=warn";

    private JvmFlags() {
    }

    /**
     * Refuses a JVM that lacks a flag.
     *
     * @throws RequestException with each flag that is missing
     */
    static void require() {
        List<String> missing = missing();
        if (!missing.isEmpty()) {
            throw new RequestException("this JVM was started without " + String.join(" ", missing)
                    + ", which Troupe needs for native memory and vectors: add "
                    + (missing.size() == 1 ? "it" : "them") + " to the flags of the JVM (docs/embedding.md)");
        }
    }

    private static List<String> missing() {
        List<String> missing = new ArrayList<>();
        Module here = JvmFlags.class.getModule();
        if (!Object.class.getModule().isOpen(INTERNALS, here)) {
            missing.add("--add-opens=java.base/" + INTERNALS + "=ALL-UNNAMED");
        }
        if (!here.isNativeAccessEnabled()) {
            missing.add("--enable-native-access=ALL-UNNAMED");
        }
        // The JDK has no other way to see how the JVM treats sun.misc.Unsafe.
        List<String> given = ManagementFactory.getRuntimeMXBean().getInputArguments();
        if (!given.contains(UNSAFE) && !given.contains(UNSAFE_WITH_WARNING)) {
            missing.add(UNSAFE);
        }
        if (ModuleLayer.boot().findModule(VECTORS).isEmpty()) {
            missing.add("--add-modules=" + VECTORS);
        }
        return missing;
    }
}
