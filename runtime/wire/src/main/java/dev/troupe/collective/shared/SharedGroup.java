package dev.troupe.collective.shared;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * A group of threads of this JVM. Each member joins in each epoch; the first to join in a later epoch ends the earlier one.
 *
 * <p>Thread rule: any thread.
 */
public final class SharedGroup {
    private final Membership membership;
    private Meeting meeting;

    /** Creates a group without members. */
    public SharedGroup(Membership membership) {
        this.membership = Objects.requireNonNull(membership, "membership");
        this.meeting = new Meeting(membership, 0);
    }

    /**
     * Joins as a member, without waiting for the others; the first collective waits.
     *
     * @param epoch the epoch of the member, at least 0
     * @return the member's end of the group in that epoch
     * @throws CollectiveException if the group is in a later epoch, or the member has joined in this one already
     */
    public synchronized CollectiveGroup join(int member, int epoch) {
        Objects.checkIndex(member, membership.size());
        if (epoch < meeting.epoch()) {
            throw refused(member, epoch, "epoch " + meeting.epoch() + " has begun");
        }
        if (epoch > meeting.epoch()) {
            meeting.end("epoch " + epoch + " has begun", OptionalInt.empty());
            meeting = new Meeting(membership, epoch);
        }
        if (!meeting.enter(member)) {
            throw refused(member, epoch, "it has joined already: who starts again does so in a later epoch");
        }
        return new SharedMember(meeting, member);
    }

    private CollectiveException refused(int member, int epoch, String why) {
        return new CollectiveException(membership.describe(member) + " cannot join " + membership.describe()
                + " in epoch " + epoch + ": " + why, OptionalInt.of(member), null);
    }
}
