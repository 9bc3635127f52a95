/** Tests of the data port. */
package dev.troupe.port;
