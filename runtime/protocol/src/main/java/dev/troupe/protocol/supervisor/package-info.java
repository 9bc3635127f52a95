/** The launcher's machine: the processes of one machine's nodes, their restarts, and the end of the run. */
package dev.troupe.protocol.supervisor;
