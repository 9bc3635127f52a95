package dev.troupe.look.bisect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.model.LayerSpec;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.rank.bits.BitKey;
import dev.troupe.rank.bits.BitLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The keys of a file's digests.
 *
 * @param facts the common facts of all runs with equal bits
 * @param tensors the names of tensors, the first one empty
 * @param keys for each digest its kind, microbatch, layer, number of the tensor's name, data rank and tensor rank
 */
record BitsHeader(int version, Map<String, String> facts, List<String> layers, List<Integer> lastLayers,
        List<String> tensors, List<int[]> keys) {
    private static final int VERSION = 3;
    private static final int NUMBERS = 6;
    private static final JsonMapper JSON = new JsonMapper();

    BitsHeader {
        facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
        layers = List.copyOf(layers);
        lastLayers = List.copyOf(lastLayers);
        tensors = List.copyOf(tensors);
        keys = List.copyOf(keys);
    }

    static BitsHeader of(PreparedRun run, BitLayout layout) {
        List<String> tensors = new ArrayList<>(List.of(""));
        Map<String, Integer> numbers = new HashMap<>(Map.of("", 0));
        List<int[]> keys = new ArrayList<>();
        for (BitKey key : layout.keys()) {
            int tensor = numbers.computeIfAbsent(key.tensor(), name -> {
                tensors.add(name);
                return tensors.size() - 1;
            });
            keys.add(new int[]{key.what().ordinal(), key.microbatch(), key.layer(), tensor, key.data(),
                    key.tensorRank()});
        }
        return new BitsHeader(VERSION, BitFacts.of(run), run.model().layers().stream().map(LayerSpec::name).toList(),
                run.plan().partition().stages().stream().map(LayerRange::last).toList(), tensors, keys);
    }

    String toJson() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Reads a header; throws an {@link IllegalArgumentException} with the defect if it is invalid. */
    static BitsHeader parse(byte[] json) {
        try {
            BitsHeader header = JSON.readValue(json, BitsHeader.class);
            if (header.version != VERSION) {
                throw new IllegalArgumentException(
                        "it is of version " + header.version + ", and this Troupe reads version " + VERSION);
            }
            header.keys.forEach(header::require);
            return header;
        } catch (IOException | NullPointerException wrong) {
            throw new IllegalArgumentException("its header is damaged", wrong);
        }
    }

    private void require(int[] key) {
        if (key.length != NUMBERS || key[0] < 0 || key[0] >= BitKey.What.values().length || key[2] < 0
                || key[2] >= layers.size() || key[3] < 0 || key[3] >= tensors.size()) {
            throw new IllegalArgumentException("its header is damaged");
        }
    }

    BitKey key(int place) {
        int[] key = keys.get(place);
        return new BitKey(BitKey.What.values()[key[0]], key[1], key[2], tensors.get(key[3]), key[4], key[5]);
    }

    int stageOf(int layer) {
        int stage = 0;
        while (stage < lastLayers.size() - 1 && lastLayers.get(stage) < layer) {
            stage++;
        }
        return stage;
    }
}
