package dev.troupe.rank.idle;

import dev.troupe.schedule.PackedAction;
import dev.troupe.schedule.simulator.Simulation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The idle times of a step in which everything takes its usual time. Longer gaps were not planned, though the way back may
 * lead over actions that took no longer than usual: they would have been over earlier, hidden by other work of the rank that
 * waits.
 */
final class PlannedGaps {
    private final Simulation planned;

    PlannedGaps(Simulation planned) {
        this.planned = planned;
    }

    /**
     * Moves what exceeds the planned length of a gap from the plan to other causes: first to those further back on the same
     * way, the nearest first, then to the gap's own, by their shares.
     *
     * @param further the parts of the way back to the beginning of the step, the latest first
     */
    List<IdlePart> settle(int place, int position, List<IdlePart> parts, Supplier<List<IdlePart>> further) {
        long called = sum(parts, true);
        long most = nanos(place, position);
        if (called <= most) {
            return parts;
        }
        List<IdlePart> settled = new ArrayList<>();
        long tooMuch = called - most;
        long behind = sum(parts, true) + sum(parts, false);
        for (IdlePart part : further.get()) {
            if (behind <= 0 && tooMuch > 0 && part.cause() != Cause.PLAN) {
                long nanos = Math.min(tooMuch, part.nanos());
                settled.add(new IdlePart(part.cause(), nanos, part.rank(), part.action()));
                tooMuch -= nanos;
            }
            behind -= part.nanos();
        }
        long others = sum(parts, false);
        addScaled(settled, parts, true, others == 0 ? most + tooMuch : most);
        addScaled(settled, parts, false, others == 0 ? 0 : others + tooMuch);
        return settled;
    }

    /** Adds the planned parts, or the others, stretched to a length; rounded at running sums, so that they add up to it. */
    private static void addScaled(List<IdlePart> to, List<IdlePart> parts, boolean isPlanned, long wanted) {
        long sum = sum(parts, isPlanned);
        long before = 0;
        for (IdlePart part : parts) {
            if ((part.cause() == Cause.PLAN) == isPlanned) {
                long nanos = Math.round((double) wanted * (before + part.nanos()) / sum)
                        - Math.round((double) wanted * before / sum);
                if (nanos > 0) {
                    to.add(new IdlePart(part.cause(), nanos, part.rank(), part.action()));
                }
                before += part.nanos();
            }
        }
    }

    private static long sum(List<IdlePart> parts, boolean isPlanned) {
        return parts.stream().filter(part -> (part.cause() == Cause.PLAN) == isPlanned).mapToLong(IdlePart::nanos)
                .sum();
    }

    private boolean isTransfer(int place, int position) {
        return PackedAction.kind(planned.rows().packed(place, position)).isTransfer();
    }

    /** The planned length of the gap before an action, or after the last one of a row. */
    private long nanos(int place, int position) {
        int before = position - 1;
        while (before >= 0 && isTransfer(place, before)) {
            before--;
        }
        long from = before < 0 ? 0 : planned.endNanos(place, before);
        long to = position < planned.rows().length(place)
                ? planned.startNanos(place, position)
                : planned.makespanNanos();
        return Math.max(0, to - from);
    }
}
