/**
 * Which rank lives where, and who has copies of its snapshots, as a pure table.
 *
 * <p>Imports the JDK and {@code dev.troupe.protocol}.
 */
package dev.troupe.protocol.replica;
