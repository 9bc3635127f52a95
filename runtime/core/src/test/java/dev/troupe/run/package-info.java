/** Tests of the listener of a run. */
package dev.troupe.run;
