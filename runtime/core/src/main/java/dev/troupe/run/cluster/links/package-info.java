/** The measurement of the ways between the nodes of a cluster, by the transport of a run. */
package dev.troupe.run.cluster.links;
