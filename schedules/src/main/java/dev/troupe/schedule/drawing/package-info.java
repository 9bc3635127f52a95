/** Pictures of a step: terminal, CSV, SVG, Chrome trace. Each is a pure function of a timeline, predicted or measured. */
package dev.troupe.schedule.drawing;
