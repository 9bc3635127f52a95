/** Access to a node: the certificates of a cluster, their checks, and sockets on which both sides show one. */
package dev.troupe.run.cluster.tls;
