/** Tests of the actors: their behaviour with hand-written neighbours, and failures from one end to the other. */
package dev.troupe.run.actor;
