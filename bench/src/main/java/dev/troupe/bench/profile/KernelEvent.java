package dev.troupe.bench.profile;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A call of a kernel, which separates the time of the engine's library from the rest. */
@Name(KernelEvent.NAME)
@Label("Kernel")
@Category("Troupe")
@StackTrace(false)
@Enabled(false)
final class KernelEvent extends Event {
    static final String NAME = "dev.troupe.bench.Kernel";

    /** The method of {@link dev.troupe.engine.Engine}. */
    @Label("Kernel")
    String kernel;
}
