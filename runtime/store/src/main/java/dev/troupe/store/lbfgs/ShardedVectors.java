package dev.troupe.store.lbfgs;

import dev.troupe.store.KeyRange;
import java.util.ArrayList;
import java.util.List;

/** The shards as their coordinator sees them: it sends operations, and adds up answers in the order of portions. */
public final class ShardedVectors {
    private final long keyCount;
    private final List<VectorShard> shards;

    private ShardedVectors(long keyCount, List<VectorShard> shards) {
        this.keyCount = keyCount;
        this.shards = List.copyOf(shards);
    }

    /**
     * Creates shards of about as many portions each.
     *
     * @param portionKeys keys of a portion; far fewer than a shard has
     */
    public static ShardedVectors of(long keyCount, int portionKeys, int shards) {
        long portions = Math.ceilDiv(keyCount, (long) portionKeys);
        List<VectorShard> all = new ArrayList<>();
        for (int shard = 0; shard < shards; shard++) {
            long first = portions * shard / shards * portionKeys;
            long end = Math.min(keyCount, portions * (shard + 1) / shards * portionKeys);
            if (first < end) {
                all.add(new VectorShard(new KeyRange(first, end), portionKeys));
            }
        }
        return new ShardedVectors(keyCount, all);
    }

    void send(VectorOperation operation) {
        shards.forEach(shard -> shard.on(operation));
    }

    double dot(int left, int right) {
        return sum(new VectorOperation.Dot(left, right));
    }

    double sum(VectorOperation operation) {
        double total = 0;
        for (VectorShard shard : shards) {
            for (double answer : shard.on(operation)) {
                total += answer;
            }
        }
        return total;
    }

    double largest(int vector) {
        double largest = 0;
        for (VectorShard shard : shards) {
            for (double answer : shard.on(new VectorOperation.Largest(vector))) {
                largest = Math.max(largest, answer);
            }
        }
        return largest;
    }

    /** Returns a whole vector, for the workers of a batch. */
    public double[] read(int vector) {
        double[] whole = new double[Math.toIntExact(keyCount)];
        for (VectorShard shard : shards) {
            System.arraycopy(shard.values(vector), 0, whole, (int) shard.range().first(), shard.range().count());
        }
        return whole;
    }

    /** Replaces a whole vector, such as the gradient of a batch. */
    public void write(int vector, double[] whole) {
        for (VectorShard shard : shards) {
            System.arraycopy(whole, (int) shard.range().first(), shard.values(vector), 0, shard.range().count());
        }
    }
}
