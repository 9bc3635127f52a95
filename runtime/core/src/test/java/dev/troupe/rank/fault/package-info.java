/** Tests of injected faults. */
package dev.troupe.rank.fault;
