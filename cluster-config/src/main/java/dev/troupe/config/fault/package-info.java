/** The text form of faults: kind, place and time in one line. Pure; the runtime injects the faults. */
package dev.troupe.config.fault;
