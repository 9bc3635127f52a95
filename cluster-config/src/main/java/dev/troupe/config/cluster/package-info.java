/**
 * The nodes of a cluster, one JVM each, the rule that places ranks on them, the choice of buddies, and TLS files.
 * Values that {@link dev.troupe.config.RunSpecReader} has checked.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.group}, {@code dev.troupe.config.problem} and
 * {@code dev.troupe.config.spec}.
 */
package dev.troupe.config.cluster;
