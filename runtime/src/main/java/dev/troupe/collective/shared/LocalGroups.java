package dev.troupe.collective.shared;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.RankGroups;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The process groups of a world whose ranks all live in this JVM.
 *
 * <p>Thread rule: any thread.
 */
public final class LocalGroups implements RankGroups {
    private record Place(SharedGroup group, int member) {
    }

    private final Map<GroupKind, Map<Integer, Place>> places = new EnumMap<>(GroupKind.class);

    /**
     * Makes the tensor and the data groups of a layout.
     *
     * @param deadline
     *            how long a member may wait for the others
     */
    public LocalGroups(ParallelLayout ranks, Duration deadline) {
        for (GroupKind kind : List.of(GroupKind.TENSOR, GroupKind.DATA)) {
            Map<Integer, Place> ofKind = new HashMap<>();
            for (List<Integer> members : ranks.groups(kind)) {
                SharedGroup group = new SharedGroup(new Membership(kind.word(), members, deadline));
                for (int member = 0; member < members.size(); member++) {
                    ofKind.put(members.get(member), new Place(group, member));
                }
            }
            places.put(kind, ofKind);
        }
    }

    @Override
    public Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch) {
        Place place = places.get(kind).get(rank);
        return place.group().size() == 1 ? Optional.empty() : Optional.of(place.group().join(place.member(), epoch));
    }
}
