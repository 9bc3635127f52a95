package dev.troupe.look.chaos;

import dev.troupe.config.fault.FaultSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * The faults of a disturbed run, in the order of its configuration.
 *
 * @param drawn the faults of {@link RandomFaults}, after them
 */
public record AskedFaults(List<FaultSpec> named, List<FaultSpec> drawn) {
    public AskedFaults {
        named = List.copyOf(named);
        drawn = List.copyOf(drawn);
    }

    public List<FaultSpec> all() {
        List<FaultSpec> all = new ArrayList<>(named);
        all.addAll(drawn);
        return all;
    }

    boolean isDrawn(int index) {
        return index >= named.size();
    }
}
