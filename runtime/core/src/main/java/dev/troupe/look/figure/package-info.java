/** Typical times of many measurements: medians, the spread of a step's time, and the ratio of times measured in pairs. */
package dev.troupe.look.figure;
