/** Tests of the language of faults. */
package dev.troupe.config.fault;
