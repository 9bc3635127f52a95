/**
 * The plan: the actions of every rank in one step, in order, as plain data. Actions and their text, the placement of
 * stages on ranks, the channels between stages, the plan with its CSV and terminal forms.
 */
package dev.troupe.schedule;
