package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.offload.StateValues;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A tensor of a stage's state under its name in files. The tensor stays the stage's.
 *
 * @param name the published name. For the optimizer's state it follows {@code optimizer.} and the name of a moment, such as
 *     {@code exp_avg.}; for older weights it follows {@link #before}; for a replica but the first, {@link #ofReplica}
 * @param values the live values, not a copy
 * @param copy whether another rank writes the same bits under the same name: for a tied token table the stage of the
 *     embedding, for tensors that a group does not divide its first rank
 */
public record StateTensor(String name, StateValues values, TensorSlice slice, boolean copy) {
    private static final Pattern OLDER = Pattern.compile("before(?:-\\d+)?\\.(.+)");

    private static final Pattern OF_REPLICA = Pattern.compile("replica-(\\d+)\\.(.+)");

    private static final Pattern MOMENT = Pattern.compile("optimizer\\.([^.]+)\\.(.+)");

    /** Creates a tensor of state in the memory of the engine. */
    public StateTensor(String name, Tensor tensor, TensorSlice slice, boolean copy) {
        this(name, new StateValues.InEngine(tensor), slice, copy);
    }

    /**
     * Returns the live tensor.
     *
     * @throws IllegalStateException if the values are in a store
     */
    public Tensor tensor() {
        return switch (values) {
            case StateValues.InEngine(Tensor tensor) -> tensor;
            case StateValues.InStore _ -> throw new IllegalStateException(name + " is in a store");
        };
    }

    /** The state of an optimizer for a parameter. */
    public record Moment(String name, String parameter) {
    }

    public static String moment(String name, String parameter) {
        return "optimizer." + name + "." + parameter;
    }

    /** Returns the moment with this name in a file; empty for any other tensor's. */
    public static Optional<Moment> momentOf(String name) {
        Matcher moment = MOMENT.matcher(name);
        return moment.matches() ? Optional.of(new Moment(moment.group(1), moment.group(2))) : Optional.empty();
    }

    /** Returns the name of the state of a replica; the first has none of its own. */
    public static String ofReplica(int replica, String name) {
        return replica == 0 ? name : "replica-" + replica + "." + name;
    }

    /** Returns the number of the replica, from 0, that has the state of this name. */
    public static int replicaOf(String name) {
        Matcher other = OF_REPLICA.matcher(name);
        return other.matches() ? Integer.parseInt(other.group(1)) : 0;
    }

    /** Returns the name of the same state of the first replica. */
    public static String ofFirstReplica(String name) {
        Matcher other = OF_REPLICA.matcher(name);
        return other.matches() ? other.group(2) : name;
    }

    /** Returns the prefix of a parameter's name in the version that is this number of updates old, 1 or more. */
    public static String before(int updates) {
        return updates == 1 ? "before." : "before-" + updates + ".";
    }

    /** Returns the parameter's name without the prefix of an older version; empty for any other name. */
    public static Optional<String> newestOf(String name) {
        Matcher older = OLDER.matcher(name);
        return older.matches() ? Optional.of(older.group(1)) : Optional.empty();
    }

    /** Fills the tensor with its slice of the source's whole tensor of this name. */
    public void load(Engine engine, WeightSource source) {
        load(engine, source, slice);
    }

    /** Fills the tensor from a source that has only this slice. */
    public void loadOwn(Engine engine, WeightSource source) {
        load(engine, source, TensorSlice.whole(values.shape()));
    }

    private void load(Engine engine, WeightSource source, TensorSlice part) {
        if (!engine.holdsValues()) {
            return; // its tensors hold no values
        }
        int elementBytes = values.dataType().elementBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment read = arena.allocate(part.whole().elementCount() * elementBytes, elementBytes);
            source.read(name, part.whole(), values.dataType(), read);
            if (!part.isWhole()) {
                MemorySegment whole = read;
                read = arena.allocate(values.byteCount(), elementBytes);
                part.cut(whole, read, elementBytes);
            }
            values.fromHost(engine, read);
        }
    }
}
