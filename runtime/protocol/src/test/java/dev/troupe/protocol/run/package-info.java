/** Tests of the machines: each event by hand, and whole runs of them in every order of a network. */
package dev.troupe.protocol.run;
