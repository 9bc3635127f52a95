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
 * A process group in device memory. Its members are threads of this process with asynchronous engines. They use one device,
 * or devices that can read each other's memory, so no byte passes through the host. The members' threads meet, but do not
 * wait for the device. Sums have the order and the bits of the other groups.
 *
 * <p>Each member offers its tensor with a fence. Work that a member requests after the meeting starts after the fences of
 * all members; a second exchange of fences ends the collective. So no tensor is written while a member still reads it.
 *
 * <p>Thread rule: the thread that calls the group.
 */
final class DeviceGroup {
    private final CollectiveGroup group;
    private final Engine engine;
    private final Object[] left;
    private final List<Tensor> tensors;
    /** Whether each member's device can read the tensors of all; null before the first tensors. */
    private Boolean isReached;

    /** The offer of a member: a tensor, and the fence after which it may be read. */
    private record Offer(Tensor tensor, Fence fence) {
    }

    DeviceGroup(CollectiveGroup group, Engine engine) {
        this.group = group;
        this.engine = engine;
        this.left = new Object[group.size()];
        this.tensors = new ArrayList<>(Collections.nCopies(group.size(), null));
    }

    /**
     * Returns whether the group handles such tensors; the answer is the same for all members. Integers and float64 are left
     * to the host.
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

    void allReduce(Tensor tensor, Reduction reduction) {
        long bytes = tensor.byteCount();
        int elementBytes = tensor.dataType().elementBytes();
        long first = Shares.start(bytes, group.size(), group.member()) / elementBytes;
        long count = Shares.length(bytes, group.size(), group.member()) / elementBytes;
        meet(tensor, bytes, 2 * (bytes - Shares.length(bytes, group.size(), group.member())));
        engine.reduce(tensors, first, tensors, first, count, reduction == Reduction.MAXIMUM);
        part();
    }

    void reduceScatter(Tensor whole, Tensor slice) {
        long count = slice.shape().elementCount();
        meet(whole, whole.byteCount(), whole.byteCount() - slice.byteCount());
        engine.reduce(tensors, group.member() * count, List.of(slice), 0, count, false);
        part();
    }

    void allGather(Tensor slice, Tensor whole) {
        long count = slice.shape().elementCount();
        meet(slice, whole.byteCount(), whole.byteCount() - slice.byteCount());
        for (int member = 0; member < group.size(); member++) {
            engine.reduce(List.of(tensors.get(member)), 0, List.of(whole), member * count, count, false);
        }
        part();
    }

    /** Offers a tensor and takes the others'; work requested after this starts when all are ready. */
    private void meet(Tensor tensor, long whole, long sent) {
        group.exchange(new Offer(tensor, engine.fence()), left, whole, sent);
        for (int member = 0; member < left.length; member++) {
            Offer offer = (Offer) left[member];
            tensors.set(member, offer.tensor);
            waitFor(member, offer.fence);
        }
    }

    /** Ends a collective: work requested after this starts when all members have done their parts. */
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
