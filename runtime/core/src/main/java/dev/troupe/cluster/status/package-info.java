/**
 * How far a node and its run are: the status that the management port returns, and the question for it.
 *
 * <p>Imports the JDK, {@code dev.troupe.cluster.tls}, {@code dev.troupe.config.cluster}, {@code com.fasterxml.jackson} and
 * {@code org.apache.pekko}.
 */
package dev.troupe.cluster.status;
