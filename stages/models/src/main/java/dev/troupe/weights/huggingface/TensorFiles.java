package dev.troupe.weights.huggingface;

import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.WeightException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The tensors of one safetensors file, or of the shards of an index next to it. Any thread may read them until they are
 * closed.
 */
public final class TensorFiles implements AutoCloseable {
    private final List<SafeTensors> files = new ArrayList<>();
    private final SequencedMap<String, SafeTensors> byTensor = new LinkedHashMap<>();

    private TensorFiles() {
    }

    /**
     * Opens the file, or its shards if it does not exist.
     *
     * @param whole the file; the index has its name with {@code .index.json}
     * @throws WeightException if a file is missing or unsound, or lacks a tensor of the index
     */
    public static TensorFiles open(Path whole) {
        Path index = whole.resolveSibling(whole.getFileName() + ShardIndex.SUFFIX);
        TensorFiles opened = new TensorFiles();
        try {
            if (Files.exists(whole) || !Files.exists(index)) {
                SafeTensors file = opened.add(whole);
                file.tensors().keySet().forEach(name -> opened.byTensor.put(name, file));
            } else {
                Map<String, SafeTensors> shards = new LinkedHashMap<>();
                ShardIndex.read(index).forEach((tensor, name) -> {
                    SafeTensors shard = shards.computeIfAbsent(name, _ -> opened.add(whole.resolveSibling(name)));
                    shard.tensor(tensor);
                    opened.byTensor.put(tensor, shard);
                });
            }
            return opened;
        } catch (RuntimeException refused) {
            opened.close();
            throw refused;
        }
    }

    private SafeTensors add(Path path) {
        SafeTensors file = SafeTensors.open(path);
        files.add(file);
        return file;
    }

    public SequencedMap<String, SafeTensors> byTensor() {
        return byTensor;
    }

    @Override
    public void close() {
        files.forEach(SafeTensors::close);
    }
}
