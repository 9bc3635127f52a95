/**
 * Sandblaster L-BFGS (Dean et al. 2012, section 4.2): {@link dev.troupe.store.lbfgs.LbfgsCoordinator} without parameters,
 * and shards with all vectors. No actor, thread, clock or socket.
 */
package dev.troupe.store.lbfgs;
