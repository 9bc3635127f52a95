/**
 * Engines that hand every call to another engine: {@link dev.troupe.engine.forward.ForwardingEngine} is their base.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.forward;
