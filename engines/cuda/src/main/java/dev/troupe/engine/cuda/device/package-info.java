/**
 * A GPU as the engine sees it: {@link dev.troupe.engine.cuda.device.Device} has streams, and a stream memory, copies and
 * launches. A driver or an interpreter implements it; the engine knows no difference.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cuda.device;
