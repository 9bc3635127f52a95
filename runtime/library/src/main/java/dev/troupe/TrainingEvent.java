package dev.troupe;

/**
 * An event of a run other than a step, as a line of {@code events.jsonl}.
 *
 * @param kind {@code recovery}, {@code checkpoint}, {@code checkpoint-failed}, {@code engine-passed-over} if the engine that
 *     {@code auto} prefers could not be loaded and a slower one computes, or a notice such as {@code straggler}
 * @param stepsDone steps committed by then
 * @param sentence a sentence for a person
 */
public record TrainingEvent(String kind, long stepsDone, String sentence) {
}
