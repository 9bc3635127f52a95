/**
 * What ranks keep of their state in memory at every commit, to start again from, and copies of it on other nodes. Imports
 * the stages and the engines.
 */
package dev.troupe.snapshot;
