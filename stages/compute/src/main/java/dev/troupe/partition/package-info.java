/**
 * Which layers each stage holds, and which models the ranks of a tensor-parallel group can share out.
 */
package dev.troupe.partition;
