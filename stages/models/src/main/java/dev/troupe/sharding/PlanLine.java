package dev.troupe.sharding;

import dev.troupe.parallel.ShardType;
import dev.troupe.parallel.ShardingMove;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/** A line of a sharding plan, at its place in the flow of a layer. */
public sealed interface PlanLine {
    /** Returns its line in the text, from 1; 0 in a derived plan. */
    int line();

    /** Returns the line without its number. */
    String text();

    /**
     * The types of a parameter.
     *
     * @param name its name in the model, with {@code *} for the number of a block or an expert
     * @param types by axis; an axis that is not named has a copy on each rank
     * @param isFirst whether only the first rank adds it to a partial sum
     * @param isSummed whether the ranks sum its gradient once a step
     */
    record Weight(int line, String name, SequencedMap<MeshAxis, ShardType> types, boolean isFirst,
            boolean isSummed) implements PlanLine {
        @Override
        public String text() {
            String all = types.entrySet().stream().map(Weight::text).collect(Collectors.joining(", "));
            return name + "  " + all + (isFirst ? ", first" : "") + (isSummed ? ", sum" : "");
        }

        private static String text(Map.Entry<MeshAxis, ShardType> type) {
            return type.getValue().text() + type.getKey().suffix();
        }
    }

    /** A move of the flow's tensor on an axis. */
    record Moved(int line, ShardingMove move, MeshAxis axis) implements PlanLine {
        @Override
        public String text() {
            return "move  " + move.text() + axis.suffix();
        }
    }
}
