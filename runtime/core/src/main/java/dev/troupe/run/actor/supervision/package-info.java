/** The border between actors and their actor system. */
package dev.troupe.run.actor.supervision;
