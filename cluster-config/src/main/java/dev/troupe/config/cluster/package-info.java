/**
 * The nodes of a cluster, one JVM each, the rule that places ranks on them, the choice of buddies, and TLS files.
 * Values that {@link dev.troupe.config.RunSpecReader} has checked.
 */
package dev.troupe.config.cluster;
