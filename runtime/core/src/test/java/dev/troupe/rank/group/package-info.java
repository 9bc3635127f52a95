/** Tests of the process groups of nodes. */
package dev.troupe.rank.group;
