/**
 * The border between what an actor runs and the actor system that it runs in.
 *
 * <p>Imports the JDK and {@code org.apache.pekko}.
 */
package dev.troupe.actor.supervision;
