/**
 * The nodes of a cluster, one JVM each: the placement of ranks on them, the choice of buddies, and TLS files. The values
 * are checked by {@link dev.troupe.config.RunSpecReader}.
 */
package dev.troupe.config.cluster;
