package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.collective.Shares;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A group of threads of this process that compute late on one device, or on devices that reach each other's memory: it adds
 * up there, and no byte comes to the host. The members' threads meet, but wait for none of the device's work: work that a
 * member requests after the meeting begins after the fences of the others. Sums have the order and the bits of the other
 * groups.
 *
 * <p>A member reads the others' tensors after fences that they took when they came, and its own work continues after fences
 * that the others took when they had requested their parts: nobody writes a tensor that somebody still reads.
 *
 * <p>Thread rule: the thread that calls the group.
 */
final class DeviceGroup {
    private final CollectiveGroup group;
    private final Engine engine;
    private final Object[] left;
    private final List<Tensor> tensors;
    /** Whether each member's device reaches the tensors of all; null before the first tensors. */
    private Boolean isReached;

    /** The offer of a member: a tensor, and the point from which on it may be read. */
    private record Offer(Tensor tensor, Fence fence) {
    }

    DeviceGroup(CollectiveGroup group, Engine engine) {
        this.group = group;
        this.engine = engine;
        this.left = new Object[group.size()];
        this.tensors = new ArrayList<>(Collections.nCopies(group.size(), null));
    }

    /**
     * Returns whether the group handles tensors like this, the same for all members. Ids and sums of float64 are for the
     * host.
     */
    boolean serves(Tensor tensor) {
        if (group.size() == 1 || !group.sharesProcess() || !engine.computesLate()
                || tensor.dataType() != DataType.FLOAT32 && tensor.dataType() != DataType.BFLOAT16) {
            return false;
        }
        if (isReached == null) {
            meet(tensor, 0, 0);
            group.exchange(engine.reaches(tensors), left, 0, 0); // a device may reach some of the others, and not all
            isReached = Arrays.stream(left).allMatch(Boolean.TRUE::equals);
        }
        return isReached;
    }

    /** As {@link CollectiveGroup#allReduce}. */
    void allReduce(Tensor tensor, Reduction reduction) {
        long bytes = tensor.byteCount();
        int elementBytes = tensor.dataType().elementBytes();
        long first = Shares.start(bytes, group.size(), group.member()) / elementBytes;
        long count = Shares.length(bytes, group.size(), group.member()) / elementBytes;
        meet(tensor, bytes, 2 * (bytes - Shares.length(bytes, group.size(), group.member())));
        engine.reduce(tensors, first, tensors, first, count, reduction == Reduction.MAXIMUM);
        part();
    }

    /** As {@link CollectiveGroup#reduceScatter}. */
    void reduceScatter(Tensor whole, Tensor slice) {
        long count = slice.shape().elementCount();
        meet(whole, whole.byteCount(), whole.byteCount() - slice.byteCount());
        engine.reduce(tensors, group.member() * count, List.of(slice), 0, count, false);
        part();
    }

    /** As {@link CollectiveGroup#allGather}. */
    void allGather(Tensor slice, Tensor whole) {
        long count = slice.shape().elementCount();
        meet(slice, whole.byteCount(), whole.byteCount() - slice.byteCount());
        for (int member = 0; member < group.size(); member++) {
            engine.reduce(List.of(tensors.get(member)), 0, List.of(whole), member * count, count, false);
        }
        part();
    }

    /** Offers a tensor and takes the others'; work requested from here on begins when all are ready. */
    private void meet(Tensor tensor, long whole, long sent) {
        group.exchange(new Offer(tensor, engine.fence()), left, whole, sent);
        for (int member = 0; member < left.length; member++) {
            Offer offer = (Offer) left[member];
            tensors.set(member, offer.tensor);
            waitFor(member, offer.fence);
        }
    }

    /** Has work requested from here on begin when all members have done their parts. */
    private void part() {
        group.exchange(engine.fence(), left, 0, 0);
        for (int member = 0; member < left.length; member++) {
            waitFor(member, (Fence) left[member]);
        }
    }

    private void waitFor(int member, Fence fence) {
        if (member != group.member()) {
            engine.waitFor(fence);
        }
    }
}
