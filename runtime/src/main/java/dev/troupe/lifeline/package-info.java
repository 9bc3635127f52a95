/**
 * The connections by which nodes notice that another one's process has ended: sockets and threads, no actor. It knows the nodes
 * of a cluster from {@link dev.troupe.config.cluster} and nothing else of the house.
 */
package dev.troupe.lifeline;
