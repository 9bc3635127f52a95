/** The media driver of Aeron: one in a process, or one for all the nodes of a machine, and the directory of its files. */
package dev.troupe.transport.driver;
