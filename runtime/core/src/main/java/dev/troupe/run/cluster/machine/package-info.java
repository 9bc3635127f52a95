/** A machine of a cluster: its media driver with the streams of its nodes, its ports, and the names of hosts. */
package dev.troupe.run.cluster.machine;
