/**
 * How far a node and its run are: the status that the management port returns, and the question for it.
 */
package dev.troupe.cluster.status;
