/**
 * The watches over a run: stalls, stragglers, the pace of steps, spikes of the loss. They decide on measurements that their
 * caller brings.
 */
package dev.troupe.protocol.watch;
