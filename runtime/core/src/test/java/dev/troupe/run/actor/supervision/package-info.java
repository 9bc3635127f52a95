/** Tests of the border between actors and their system. */
package dev.troupe.run.actor.supervision;
