/** Tests of collectives between threads. */
package dev.troupe.collective.shared;
