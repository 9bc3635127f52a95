/** Tests of injected faults. */
package dev.troupe.fault;
