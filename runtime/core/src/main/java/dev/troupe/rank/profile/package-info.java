/** The profile of a model on this machine: every form of layer alone, on the engine and at the shapes of a run. */
package dev.troupe.rank.profile;
