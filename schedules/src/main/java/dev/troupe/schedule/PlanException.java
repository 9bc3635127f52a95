package dev.troupe.schedule;

import java.util.List;

/**
 * A plan, or a request for one, is wrong. The message begins with one sentence that says what and where; if it is
 * about a plan, the grid of that plan follows with the places marked. Nothing has been started: change the input.
 */
public final class PlanException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String sentence;
    private final Place[] places;

    /** A refusal that is about no place in a plan. */
    public PlanException(String sentence) {
        super(sentence);
        this.sentence = sentence;
        this.places = new Place[0];
    }

    /** A refusal of a plan; its grid is put under the sentence, with the marks in it. */
    public PlanException(String sentence, Plan plan, List<Mark> marks) {
        super(sentence + "\n" + PlanText.grid(plan, marks));
        this.sentence = sentence;
        this.places = marks.stream().map(Mark::place).toArray(Place[]::new);
    }

    /** What is wrong, without the grid. */
    public String sentence() {
        return sentence;
    }

    /** The marked places, the most telling one first; empty if the refusal is about none. */
    public List<Place> places() {
        return List.of(places);
    }
}
