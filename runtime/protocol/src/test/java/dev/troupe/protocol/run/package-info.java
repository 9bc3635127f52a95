/** Tests of the machines: each event by hand, and whole runs of them in every order a network may give. */
package dev.troupe.protocol.run;
