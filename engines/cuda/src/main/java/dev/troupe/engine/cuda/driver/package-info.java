/**
 * NVIDIA's driver as a {@link dev.troupe.engine.cuda.device.Device}, by the foreign function API and no other library.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cuda.device} and
 * {@code dev.troupe.engine.provider}.
 */
package dev.troupe.engine.cuda.driver;
