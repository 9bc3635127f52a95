package dev.troupe.run.news;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StallWatch.Stall;
import dev.troupe.protocol.watch.StallWatch.Standstill;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Mark;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.PlanText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A stalled run as text for the user. It has the cause, the action or wait of each rank and its duration, and the row and
 * stack of the rank that hangs. The whole plan follows, with the position of every rank.
 */
public final class StallDrawing {
    private final TrainingPlan plan;
    private final Stall stall;
    /** The positions of the ranks that are in a pass of the drawn kind. */
    private final Map<Integer, RowPosition> positions = new TreeMap<>();
    private final StringBuilder text = new StringBuilder();

    private StallDrawing(TrainingPlan plan, Stall stall) {
        this.plan = plan;
        this.stall = stall;
    }

    /** Draws a stall; every line ends with a line feed. */
    public static String draw(TrainingPlan plan, Stall stall) {
        return new StallDrawing(plan, stall).draw();
    }

    private String draw() {
        addLine(stall.sentence());
        addLine("");
        stall.ranks().forEach(rank -> addLine(
                "rank " + rank.status().rank() + " is " + what(rank.status()) + "; it has not moved for "
                        + String.format(Locale.ROOT, "%.1f", rank.nanos() / 1e9) + " s"
                        + (isAtFault(rank.status().rank()) ? " <-- hangs" : "")));
        drawnKind().ifPresent(this::addPlan);
        for (Standstill rank : stall.ranks()) {
            if (!rank.status().stack().isEmpty()) {
                addLine("");
                addLine("the thread of rank " + rank.status().rank() + " is at");
                rank.status().stack().forEach(call -> addLine("  " + call));
            }
        }
        return text.toString();
    }

    /** Returns the kind of pass of the rank at fault; if all wait, of the first rank that is in a pass. */
    private Optional<Pass.Kind> drawnKind() {
        return stall.ranks().stream().map(Standstill::status)
                .filter(status -> stall.rank().isEmpty() || isAtFault(status.rank()))
                .flatMap(status -> status.position().stream()).map(RowPosition::kind).findFirst();
    }

    private void addPlan(Pass.Kind kind) {
        for (Standstill rank : stall.ranks()) {
            rank.status().position().filter(position -> position.kind() == kind)
                    .ifPresent(position -> positions.put(rank.status().rank(), position));
        }
        if (stall.rank().isPresent()) {
            addLine("");
            addLine("row of rank " + stall.rank().getAsInt() + ":");
            addLine("  " + row(kind, stall.rank().getAsInt()));
        }
        addLine("");
        addLine("where every rank is" + (plan.rankCount() == plan.ranks().pipeline()
                ? ":"
                : "; ranks that share their stages share a line:"));
        addLine(PlanText.grid(plan.certificate(kind).plan(), marks()));
    }

    private String row(Pass.Kind kind, int rank) {
        List<Action> actions = plan.row(kind, rank).actions();
        int position = positions.get(rank).position();
        return IntStream.rangeClosed(0, actions.size()).filter(index -> index < actions.size() || index == position)
                .mapToObj(index -> {
                    String cell = index < actions.size() ? actions.get(index).toString() : "end of the row";
                    return index == position ? ">>" + cell + "<<" : cell;
                }).collect(Collectors.joining(" "));
    }

    /** Returns a mark for the rank at fault, and one for each position of other ranks. */
    private List<Mark> marks() {
        List<Mark> marks = new ArrayList<>();
        Map<Place, List<Integer>> others = positions.keySet().stream().filter(rank -> !isAtFault(rank))
                .collect(Collectors.groupingBy(this::place));
        positions.keySet().stream().filter(this::isAtFault)
                .forEach(rank -> marks.add(new Mark(place(rank), "RANK " + rank + " HANGS HERE")));
        positions.keySet().stream().map(rank -> others.getOrDefault(place(rank), List.of()))
                .filter(here -> !here.isEmpty())
                .distinct().forEach(here -> marks.add(new Mark(place(here.getFirst()), caption(here))));
        return marks;
    }

    private static String caption(List<Integer> here) {
        return here.size() == 1
                ? "rank " + here.getFirst()
                : "ranks " + here.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    private Place place(int rank) {
        return new Place(plan.placeOf(rank), positions.get(rank).position());
    }

    private boolean isAtFault(int rank) {
        return stall.rank().equals(OptionalInt.of(rank));
    }

    /** Returns the situation of a rank, with the sender of the message for which it waits. */
    private String what(RankStatus status) {
        return status.situation() + status.position().flatMap(position -> awaited(status.rank(), position))
                .map(from -> ", from rank " + from).orElse("");
    }

    private Optional<Integer> awaited(int rank, RowPosition position) {
        List<Action> actions = plan.row(position.kind(), rank).actions();
        if (position.position() >= actions.size()) {
            return Optional.empty();
        }
        Action action = actions.get(position.position());
        return action.kind().isReceive() && plan.needsMessage(action)
                ? Optional.of(plan.edgeOf(rank, action).fromRank())
                : Optional.empty();
    }

    private void addLine(String line) {
        text.append(line).append('\n');
    }
}
