/** Tests of the transport's settings. */
package dev.troupe.transport;
