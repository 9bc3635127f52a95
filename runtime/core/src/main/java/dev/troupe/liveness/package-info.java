/**
 * The connections by which nodes notice that another one's process has ended: sockets and threads, no actor.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.cluster}, {@code dev.troupe.port} and {@code org.slf4j}.
 */
package dev.troupe.liveness;
