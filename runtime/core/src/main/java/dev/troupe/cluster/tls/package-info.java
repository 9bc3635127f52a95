/**
 * Who may speak to a node: the certificates of a cluster, their checks, and sockets on which both sides show one.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.cluster}, {@code dev.troupe.liveness}, {@code dev.troupe.plan} and
 * {@code dev.troupe.transport.tcp}.
 */
package dev.troupe.cluster.tls;
