/** Files of JSON objects, one on each line, that a run adds to while it lasts and reads again when it is resumed. */
package dev.troupe.rank.lines;
