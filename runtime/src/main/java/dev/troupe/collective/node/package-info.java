/**
 * Which implementation serves which process group: threads of one JVM meet in shared memory, nodes over Aeron. May import
 * the packages of both, {@code dev.troupe.config.group} and {@code dev.troupe.transport}.
 */
package dev.troupe.collective.node;
