/** Tests of the process groups of nodes. */
package dev.troupe.group;
