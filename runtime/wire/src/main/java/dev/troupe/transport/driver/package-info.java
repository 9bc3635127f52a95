/** The media driver of Aeron, in one process or shared by all nodes of a machine, and the directory of its files. */
package dev.troupe.transport.driver;
