package dev.troupe.collective.shared;

import dev.troupe.collective.Membership;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** The reusable barrier of a group's members in one epoch. */
final class Meeting {
    private final Membership membership;
    private final int epoch;
    private final long deadlineNanos;
    private final List<Slot> slots = new ArrayList<>();
    private final BitSet entered = new BitSet();
    /** The arrivals of all members. No member arrives at the next meeting before all have arrived at this one. */
    private final AtomicLong arrivals = new AtomicLong();
    private final AtomicReference<End> end = new AtomicReference<>();

    /** The end of the barrier, with the member at fault. */
    record End(String why, OptionalInt culprit) {
    }

    Meeting(Membership membership, int epoch) {
        this.membership = membership;
        this.epoch = epoch;
        this.deadlineNanos = membership.deadline().toNanos();
        for (int member = 0; member < membership.size(); member++) {
            slots.add(new Slot());
        }
    }

    Membership membership() {
        return membership;
    }

    int epoch() {
        return epoch;
    }

    Slot slot(int member) {
        return slots.get(member);
    }

    /** Registers a member; returns false if it was registered before. Guarded by the group's lock. */
    boolean enter(int member) {
        boolean isNew = !entered.get(member);
        entered.set(member);
        return isNew;
    }

    /** Ends the barrier for all, unless it has ended; returns its end. */
    End end(String why, OptionalInt culprit) {
        end.compareAndSet(null, new End(why, culprit));
        wakeAll();
        return end.get();
    }

    /** Returns the end of the barrier, or null. */
    End ended() {
        return end.get();
    }

    /**
     * Arrives as a member, and waits until all other members have arrived at this meeting.
     *
     * @return null after the meeting, or the end of the barrier
     */
    End meet(int member) {
        Slot own = slots.get(member);
        long time = own.arrivals + 1;
        own.arrivals = time;
        long all = time * slots.size();
        if (arrivals.incrementAndGet() == all) {
            wakeAll();
            return null;
        }
        own.sleeper = Thread.currentThread();
        try {
            return sleepUntil(all, member);
        } finally {
            own.sleeper = null;
        }
    }

    private End sleepUntil(long all, int member) {
        long start = System.nanoTime();
        // The waking member reads the sleepers after it has counted itself, so at least one of the two sees the other.
        while (arrivals.get() < all) {
            // Read only while waiting, since a complete meeting is valid even if a member has left since.
            if (end.get() != null) {
                return end.get();
            }
            long waited = System.nanoTime() - start;
            if (waited >= deadlineNanos) {
                List<Integer> absent = absentees();
                if (!absent.isEmpty()) {
                    return end(membership.describeAbsence(absent), OptionalInt.of(absent.getFirst()));
                }
            }
            if (Thread.currentThread().isInterrupted()) {
                return end(membership.describe(member) + " was interrupted", OptionalInt.of(member));
            }
            LockSupport.parkNanos(this, deadlineNanos - waited);
        }
        return null;
    }

    private void wakeAll() {
        for (Slot slot : slots) {
            Thread sleeper = slot.sleeper;
            if (sleeper != null) {
                LockSupport.unpark(sleeper);
            }
        }
    }

    /** Returns the members with fewer arrivals than others; empty if the last one has just arrived. */
    private List<Integer> absentees() {
        long most = slots.stream().mapToLong(slot -> slot.arrivals).max().orElse(0);
        List<Integer> absent = new ArrayList<>();
        for (int member = 0; member < slots.size(); member++) {
            if (slots.get(member).arrivals < most) {
                absent.add(member);
            }
        }
        return absent;
    }
}
