/**
 * Where each rank lives: the nodes of a cluster, one JVM each, and the rule that places ranks on them. Values that
 * {@link dev.troupe.config.RunSpecReader} has checked.
 *
 * <p>Imports the JDK, {@code dev.troupe.config} and {@code dev.troupe.config.group}.
 */
package dev.troupe.config.cluster;
