/** The connections by which nodes notice that another one's process has ended: sockets and threads, no actor. */
package dev.troupe.run.cluster.liveness;
