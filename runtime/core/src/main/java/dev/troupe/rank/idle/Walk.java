package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The way back from an action that began late to what it waited for: the landing of its tensor, the message, the action that
 * made it, and so on, until the beginning of the gap. Every piece of the gap becomes a part, so that the parts add up to it.
 */
final class Walk {
    private final StepTimes step;
    private final Usual usual;
    private final Barrier decision;
    private List<IdlePart> parts;

    /** The last end among the actions that the coordinator waits for before it decides the update. */
    private record Barrier(int rank, int position, long nanos) {
    }

    Walk(StepTimes step, Usual usual) {
        this.step = step;
        this.usual = usual;
        this.decision = lastBeforeUpdates();
    }

    private Barrier lastBeforeUpdates() {
        Barrier last = null;
        for (RankTimes times : step.ranks()) {
            int update = firstUpdate(times.rank());
            int before = update < 0 ? -1 : step.before(times.rank(), update);
            if (before >= 0 && (last == null || times.endNanos(before) > last.nanos())) {
                last = new Barrier(times.rank(), before, times.endNanos(before));
            }
        }
        return last;
    }

    private int firstUpdate(int rank) {
        List<Action> row = step.rows().row(rank);
        for (int position = 0; position < row.size(); position++) {
            Action action = row.get(position);
            if (action.kind() == Kind.UPDATE && step.rows().plan().updateAwaitsAll(step.rows().plan().stepOf(action))) {
                return position;
            }
        }
        return -1;
    }

    /** The parts of the time before an action, from the end of the one before. */
    List<IdlePart> before(int rank, int position, long from, long to) {
        parts = new ArrayList<>();
        cover(rank, position, from, to);
        return parts;
    }

    /** The parts of the time between the last action of a rank and the end of the step, which an action of another ends. */
    List<IdlePart> behind(long from, int lastRank, long to) {
        parts = new ArrayList<>();
        back(lastRank, step.last(lastRank), from, to);
        return parts;
    }

    /** The parts of the time inside an action in which the rank did not compute. */
    List<IdlePart> inside(int rank, int position) {
        parts = new ArrayList<>();
        RankTimes times = step.ranks().get(rank);
        Action action = step.rows().row(rank).get(position);
        long group = times.groupNanos()[position];
        put(Cause.GROUP, group, group == 0 ? rank : latestOfGroup(rank, position), action);
        put(Cause.DATA, times.dataNanos()[position], rank, action);
        long stood = pausedNanos(rank, times.startNanos(position), times.endNanos(position));
        put(Cause.PAUSE, Math.min(stood, Usual.computingNanos(times, position)), rank, action);
        put(Cause.CPU, cpuInside(rank, position), rank, action);
        return parts;
    }

    /**
     * The rank that waited least for its group in an action: the others waited for it, because it began late or was slow.
     */
    private int latestOfGroup(int rank, int position) {
        return step.rows().group(rank, step.rows().row(rank).get(position).kind()).boxed()
                .min(Comparator.comparingLong(member -> step.ranks().get(member).groupNanos()[position])).orElse(rank);
    }

    /** The time before an action, which waited for its message or for the coordinator, or began late without a reason. */
    private void cover(int rank, int position, long before, long to) {
        Action action = step.rows().row(rank).get(position);
        RankTimes times = step.ranks().get(rank);
        long from = step.between() == Cause.RECOVERY ? Math.max(before, Math.min(times.beginNanos(), to)) : before;
        put(Cause.RECOVERY, before, from, rank, null); // this rank did not exist yet
        Message message = inputOf(rank, position);
        if (message != null && message.landedNanos() > from) {
            long landed = Math.min(message.landedNanos(), to);
            late(rank, action, position, landed, to);
            onTheWay(message, action, rank, from, landed);
        } else if (action.kind() == Kind.UPDATE && position == firstUpdate(rank) && decision != null
                && decision.nanos() < to) {
            long decided = Math.max(from, decision.nanos());
            put(Cause.COMMIT, decided, to, rank, action);
            if (decided > from) {
                back(decision.rank(), decision.position(), from, decided);
            }
        } else if (step.before(rank, position) < 0) {
            long told = Math.clamp(times.beginNanos(), from, to);
            late(rank, action, position, told, to);
            beforeTheStep(rank, from, told);
        } else {
            late(rank, action, position, from, to);
        }
    }

    /** The message without which an action could not begin; before a pair, the later of two. */
    private Message inputOf(int rank, int position) {
        Message own = Message.into(step, rank, step.rows().row(rank).get(position));
        int place = rank / step.rows().ranksPerPlace();
        if (!step.rows().plan().overlaps().contains(new Place(place, position))) {
            return own;
        }
        Message other = Message.into(step, rank, step.rows().row(rank).get(position + 1));
        return own == null || other != null && other.landedNanos() > own.landedNanos() ? other : own;
    }

    /**
     * A rank had everything and had not begun: for want of a core, as far as its thread was ready to run, else by control.
     */
    private void late(int rank, Action action, int position, long from, long to) {
        long running = put(null, from, to, rank, action);
        long waited = Math.min(running, step.ranks().get(rank).cpuNanos()[position]);
        put(Cause.CPU, waited, rank, action);
        put(Cause.CONTROL, running - waited, rank, action);
    }

    private void onTheWay(Message message, Action user, int receiver, long from, long landed) {
        long left = Math.min(landed, message.handedNanos() + message.creditNanos());
        if (left < landed) {
            long begin = Math.max(from, left);
            int still = pausedNanos(receiver, left, landed) > pausedNanos(message.sender(), left, landed)
                    ? receiver
                    : message.sender();
            long stood = pausedNanos(still, begin, landed);
            put(Cause.PAUSE, stood, still, message.send());
            long way = landed - begin - stood;
            long moved = Math.max(0, message.wireNanos() - pausedNanos(still, left, message.landedNanos()));
            long excess = Math.clamp(moved - usual.nanos(step, receiver, receiveOf(message, user)), 0, way);
            put(Cause.WIRE, excess, message.sender(), message.send());
            put(Cause.PLAN, way - excess, message.sender(), message.send());
        }
        if (left <= from) {
            return;
        }
        put(Cause.CREDIT, Math.max(from, message.handedNanos()), left, receiver, message.send());
        int maker = sentBehind(message);
        long made = step.ranks().get(message.sender()).endNanos(maker);
        long handed = Math.min(left, message.handedNanos());
        if (handed > from && made < handed) {
            put(Cause.CONTROL, Math.max(from, made), handed, message.sender(), message.send());
        }
        if (Math.min(made, handed) > from) {
            back(message.sender(), maker, from, Math.min(made, handed));
        }
    }

    /** The action after which a tensor is sent: the one that made it, or the second of its pair. */
    private int sentBehind(Message message) {
        Place made = new Place(message.sender() / step.rows().ranksPerPlace(), message.maker());
        int behind = message.maker() + 1;
        return step.rows().plan().overlaps().contains(made) && step.ranks().get(message.sender()).did(behind)
                ? behind
                : message.maker();
    }

    private Action receiveOf(Message message, Action user) {
        return user.kind().isReceive() ? user : step.rows().plan().peer(message.send());
    }

    /** The work of a rank until an instant, back to the beginning of the gap. */
    private void back(int rank, int last, long from, long to) {
        RankTimes times = step.ranks().get(rank);
        long at = to;
        for (int position = last; at > from; position = step.before(rank, position)) {
            if (position < 0) {
                beforeTheStep(rank, from, at);
                return;
            }
            computed(rank, position, Math.max(from, times.startNanos(position)), at);
            at = Math.min(at, Math.max(from, times.startNanos(position)));
            int before = step.before(rank, position);
            long ended = before < 0 ? from : Math.max(from, times.endNanos(before));
            if (ended < at) {
                cover(rank, position, ended, at);
                at = ended;
            }
        }
    }

    /**
     * The last piece of an action: first the part that was not planned, without which the action would have ended earlier,
     * then the planned rest.
     */
    private void computed(int rank, int position, long from, long to) {
        if (from >= to) {
            return;
        }
        RankTimes times = step.ranks().get(rank);
        Action action = step.rows().row(rank).get(position);
        long left = put(null, from, to, rank, action);
        long group = times.groupNanos()[position];
        long data = times.dataNanos()[position];
        long cpu = cpuInside(rank, position);
        long excess = Math.max(0, Usual.computingNanos(times, position) - cpu
                - pausedNanos(rank, times.startNanos(position), times.endNanos(position))
                - usual.nanos(step, rank, action));
        double share = Math.min(1, (double) left / Math.max(1, group + data + cpu + excess));
        left -= share(Cause.GROUP, group, share, left, group == 0 ? rank : latestOfGroup(rank, position), action);
        left -= share(Cause.DATA, data, share, left, rank, action);
        left -= share(Cause.CPU, cpu, share, left, rank, action);
        left -= share(Cause.PRODUCER, excess, share, left, rank, action);
        put(Cause.PLAN, left, rank, action);
    }

    private long share(Cause cause, long nanos, double share, long most, int rank, Action action) {
        long part = Math.min(most, Math.round(nanos * share));
        put(cause, part, rank, action);
        return part;
    }

    /** The time without a core that cannot have been before an action. */
    private long cpuInside(int rank, int position) {
        RankTimes times = step.ranks().get(rank);
        int before = step.before(rank, position);
        long idle = times.starts()[position] - (before < 0 ? 0 : times.ends()[before]);
        long computing = Math.max(0, Usual.computingNanos(times, position)
                - pausedNanos(rank, times.startNanos(position), times.endNanos(position)));
        return Math.clamp(times.cpuNanos()[position] - Math.max(0, idle), 0, computing);
    }

    private void beforeTheStep(int rank, long from, long to) {
        long first = Math.clamp(step.beginNanos(), from, to);
        put(step.between() == Cause.RECOVERY ? Cause.RECOVERY : Cause.COMMIT, first, to, rank, null);
        put(step.between(), from, first, rank, null);
    }

    /** Adds a piece of time; pauses of a process in it become pauses. Returns the rest, which it adds under the cause. */
    private long put(Cause cause, long from, long to, int rank, Action action) {
        if (from >= to) {
            return 0;
        }
        long stood = pausedNanos(rank, from, to);
        put(Cause.PAUSE, stood, rank, action);
        long rest = to - from - stood;
        if (cause != null) {
            put(cause, rest, rank, action);
        }
        return rest;
    }

    private void put(Cause cause, long nanos, int rank, Action action) {
        if (nanos > 0) {
            parts.add(new IdlePart(cause, nanos, rank, action));
        }
    }

    private long pausedNanos(int rank, long from, long to) {
        long stood = 0;
        for (RankTimes.Pause pause : step.ranks().get(rank).pauses()) {
            stood += Math.max(0, Math.min(to, pause.toNanos()) - Math.max(from, pause.fromNanos()));
        }
        return stood;
    }
}
