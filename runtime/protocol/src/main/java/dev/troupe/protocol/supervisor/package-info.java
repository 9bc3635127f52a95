/**
 * The launcher's machine: which processes of one machine's nodes live, when one starts again, and when the run is over.
 */
package dev.troupe.protocol.supervisor;
