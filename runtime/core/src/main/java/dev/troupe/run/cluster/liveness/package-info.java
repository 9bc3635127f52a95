/** The connections by which nodes notice that the process of another node has ended: sockets and threads, no actor. */
package dev.troupe.run.cluster.liveness;
