package dev.troupe.schedule.timeline;

/**
 * A tensor on its way from one rank to another: the action that made it and the action that waited for it.
 *
 * @param maker the forward or backward that has the tensor as its output, which leaves at the end of this span
 * @param user the forward or backward that takes it as its input
 */
public record Transfer(Span maker, Span user) {
}
