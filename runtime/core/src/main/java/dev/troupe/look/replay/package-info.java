/** The repetition of a step of a run. */
package dev.troupe.look.replay;
