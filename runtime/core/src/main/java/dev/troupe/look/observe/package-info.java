/** The observation of a run by other programs: an observer receives the facts, each step and each recovery. */
package dev.troupe.look.observe;
