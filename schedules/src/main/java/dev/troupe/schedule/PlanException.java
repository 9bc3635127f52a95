package dev.troupe.schedule;

import java.util.List;

/**
 * The refusal of a plan, or of a request for one. The message begins with one sentence about the error and its place. For a
 * plan, its grid follows with the places marked. Nothing has been started: change the input.
 */
public final class PlanException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String sentence;
    private final Place[] places;

    /** Creates a refusal without a plan. */
    public PlanException(String sentence) {
        super(sentence);
        this.sentence = sentence;
        this.places = new Place[0];
    }

    public PlanException(String sentence, Plan plan, List<Mark> marks) {
        super(sentence + "\n" + PlanText.grid(plan, marks));
        this.sentence = sentence;
        this.places = marks.stream().map(Mark::place).toArray(Place[]::new);
    }

    public String sentence() {
        return sentence;
    }

    /** Returns the marked places, the most important one first; empty if there is no plan. */
    public List<Place> places() {
        return List.of(places);
    }
}
