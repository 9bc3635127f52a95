/** The border between what an actor runs and the actor system that it runs in. */
package dev.troupe.run.actor.supervision;
