package dev.troupe.stage;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The order in which a stage works on its microbatches: one row per stage, run as soon as inputs are there. */
enum Order {
    /** All forwards, then all backwards: {@code F0 F1 F2 F3 I0 W0 I1 W1 I2 W2 I3 W3}. */
    ALL_FORWARDS_FIRST {
        @Override
        List<Work> row(int stage, int stageCount, int microbatches) {
            List<Work> row = new ArrayList<>();
            for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                row.add(new Work(Kind.FORWARD, microbatch));
            }
            for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                row.add(new Work(Kind.INPUT_GRADIENT, microbatch));
                row.add(new Work(Kind.WEIGHT_GRADIENT, microbatch));
            }
            return row;
        }
    },
    /** Last of four stages: {@code F0 I0 W0 F1 I1 W1 ...}; the first: {@code F0 F1 F2 F3 I0 W0 F4 ...}. */
    ONE_FORWARD_ONE_BACKWARD {
        @Override
        List<Work> row(int stage, int stageCount, int microbatches) {
            return inTurn(stage, stageCount, microbatches, 0);
        }
    },
    /** As one forward and one backward, with both gradients at once: {@code F0 B0 F1 B1 ...}. */
    WHOLE_BACKWARDS {
        @Override
        List<Work> row(int stage, int stageCount, int microbatches) {
            return inTurn(stage, stageCount, microbatches, 0).stream()
                    .filter(work -> work.kind() != Kind.WEIGHT_GRADIENT)
                    .map(work -> work.kind() == Kind.INPUT_GRADIENT
                            ? new Work(Kind.BOTH_GRADIENTS, work.microbatch())
                            : work)
                    .toList();
        }
    },
    /** As one forward and one backward, with each W three I later: {@code F0 I0 F1 I1 F2 I2 F3 I3 W0 ... W1 W2 W3}. */
    WEIGHT_GRADIENTS_LATE {
        @Override
        List<Work> row(int stage, int stageCount, int microbatches) {
            return inTurn(stage, stageCount, microbatches, 3);
        }
    },
    /** All W at the very end, backwards: {@code ... W3 W2 W1 W0}; another order of sums, so other last bits. */
    WEIGHT_GRADIENTS_REVERSED {
        @Override
        List<Work> row(int stage, int stageCount, int microbatches) {
            List<Work> row = inTurn(stage, stageCount, microbatches, microbatches);
            return Stream
                    .concat(row.stream().filter(work -> work.kind() != Kind.WEIGHT_GRADIENT),
                            row.reversed().stream().filter(work -> work.kind() == Kind.WEIGHT_GRADIENT))
                    .toList();
        }
    };

    enum Kind {
        FORWARD, REPLAY, INPUT_GRADIENT, WEIGHT_GRADIENT, BOTH_GRADIENTS;

        boolean isForWeights() {
            return this == WEIGHT_GRADIENT || this == BOTH_GRADIENTS;
        }
    }

    record Work(Kind kind, int microbatch) {
    }

    abstract List<Work> row(int stage, int stageCount, int microbatches);

    /** Returns the row with a replay of each microbatch before its backward. */
    List<Work> replaying(int stage, int stageCount, int microbatches) {
        List<Work> replaying = new ArrayList<>();
        for (Work work : row(stage, stageCount, microbatches)) {
            if (work.kind() == Kind.INPUT_GRADIENT || work.kind() == Kind.BOTH_GRADIENTS) {
                replaying.add(new Work(Kind.REPLAY, work.microbatch()));
            }
            replaying.add(work);
        }
        return replaying;
    }

    private static List<Work> inTurn(int stage, int stageCount, int microbatches, int weightsLate) {
        List<Work> row = new ArrayList<>();
        int forwards = Math.min(microbatches, stageCount - stage);
        for (int microbatch = 0; microbatch < forwards; microbatch++) {
            row.add(new Work(Kind.FORWARD, microbatch));
        }
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            row.add(new Work(Kind.INPUT_GRADIENT, microbatch));
            if (microbatch >= weightsLate) {
                row.add(new Work(Kind.WEIGHT_GRADIENT, microbatch - weightsLate));
            }
            if (forwards < microbatches) {
                row.add(new Work(Kind.FORWARD, forwards++));
            }
        }
        for (int microbatch = Math.max(0, microbatches - weightsLate); microbatch < microbatches; microbatch++) {
            row.add(new Work(Kind.WEIGHT_GRADIENT, microbatch));
        }
        return row;
    }
}
