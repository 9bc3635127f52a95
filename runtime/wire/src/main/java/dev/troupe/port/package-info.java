/**
 * The data port of a node, on which the processes of other nodes call it for several uses.
 *
 * <p>Imports the JDK and {@code org.slf4j}.
 */
package dev.troupe.port;
