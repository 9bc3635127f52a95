package dev.troupe.bench;

import java.util.List;

/** The layout of a model over ranks. */
public record Arrangement(int ranks, int virtualStages, String schedule) {
    /** One rank with all cores; then two and four ranks that share the cores, under each schedule. */
    public static final List<Arrangement> ALL = List.of(new Arrangement(1, 1, "1f1b"), new Arrangement(2, 1, "gpipe"),
            new Arrangement(2, 1, "1f1b"), new Arrangement(2, 2, "interleaved-1f1b"), new Arrangement(4, 1, "gpipe"),
            new Arrangement(4, 1, "1f1b"), new Arrangement(4, 2, "interleaved-1f1b"));

    /** One arrangement for each number of ranks. */
    public static final List<Arrangement> FEW = List.of(new Arrangement(1, 1, "1f1b"), new Arrangement(2, 1, "1f1b"),
            new Arrangement(4, 1, "1f1b"));

    /** Returns the settings of {@code troupe train -s} for this layout. */
    public List<String> settings() {
        return List.of("parallel.pipeline=" + ranks, "parallel.virtual-stages=" + virtualStages,
                "parallel.schedule=" + schedule);
    }

    @Override
    public String toString() {
        return ranks == 1 ? "1 rank" : ranks + " ranks, " + schedule;
    }
}
