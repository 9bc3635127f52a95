/** Tests of a node's checks before it joins its cluster. */
package dev.troupe.run.cluster;
