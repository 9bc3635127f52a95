/** Tests of collectives between JVMs. */
package dev.troupe.collective.peer;
