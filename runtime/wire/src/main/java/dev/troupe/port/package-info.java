/** The data port of a node, on which the processes of other nodes call it for several uses. */
package dev.troupe.port;
