/**
 * A GPU as the engine sees it: {@link dev.troupe.engine.cuda.device.Device} has streams, and a stream memory, copies and
 * launches. Whether a driver or an interpreter is behind it makes no difference to the engine.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cuda.device;
