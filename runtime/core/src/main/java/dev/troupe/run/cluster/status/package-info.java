/** The status of a node and its run, which the management port returns, and the request for it. */
package dev.troupe.run.cluster.status;
