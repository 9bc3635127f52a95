/**
 * The actions of a row on a stage and its engine, and what a stage needs of its rank. Nothing here knows actors, the
 * transport's threads, or another process.
 */
package dev.troupe.plan.step;
