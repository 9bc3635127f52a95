package dev.troupe.engine.cpu.library;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * A call of oneDNN that computes or packs, for the JDK's flight recorder. A step has thousands of them, so they are recorded
 * only on request by name; otherwise they cost nothing.
 */
@Name("dev.troupe.MatrixProduct")
@Label("Matrix product in oneDNN")
@Category("Troupe")
@StackTrace(false)
@Enabled(false)
final class ProductEvent extends Event {
}
