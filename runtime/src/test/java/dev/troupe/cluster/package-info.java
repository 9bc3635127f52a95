/** Tests of what a node does before it joins its cluster. */
package dev.troupe.cluster;
