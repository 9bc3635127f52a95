/**
 * The parameter server (Li et al. 2014): keys on a consistent-hash ring of servers, vector clocks for ranges of keys, and
 * pushes that are applied exactly once and copied to the next servers before they are acknowledged. The machines
 * are {@link dev.troupe.store.ServerMachine}, {@link dev.troupe.store.WorkerMachine} and
 * {@link dev.troupe.store.ManagerMachine}, without actors, threads, clocks or sockets.
 */
package dev.troupe.store;
