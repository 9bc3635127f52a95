/** What ranks keep of their state in memory at every commit, to start again from. Imports the stages and the engines. */
package dev.troupe.snapshot;
