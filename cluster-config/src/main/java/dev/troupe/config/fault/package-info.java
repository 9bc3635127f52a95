/**
 * The language of faults: the kind, place and time of a fault in one line of text. Pure; the runtime injects the faults.
 */
package dev.troupe.config.fault;
