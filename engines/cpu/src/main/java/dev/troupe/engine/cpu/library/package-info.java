/**
 * The libraries of matrix products, and what they and the processor can do here.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.provider} and {@code org.bytedeco}.
 */
package dev.troupe.engine.cpu.library;
