package dev.troupe.schedule.timeline;

/**
 * The transfer of a tensor from one rank to another, with the actions that make and use it.
 *
 * @param maker the forward or backward that has the tensor as its output, which leaves at the end of this span
 * @param user the forward or backward that takes it as its input
 */
public record Transfer(Span maker, Span user) {
}
