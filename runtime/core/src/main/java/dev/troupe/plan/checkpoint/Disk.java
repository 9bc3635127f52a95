package dev.troupe.plan.checkpoint;

import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/** The disk for parts of checkpoints, which a test can make full. */
interface Disk {
    /** The file systems of this machine. */
    Disk REAL = new Disk() {
        @Override
        public long freeBytes(Path directory) {
            return directory.toFile().getUsableSpace(); // a FileStore needs /proc, which a bare root may lack
        }

        @Override
        public void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors) {
            SafeTensorsWriter.write(file, metadata, tensors);
        }
    };

    /** Returns the free bytes of the file system of an existing directory. */
    long freeBytes(Path directory);

    /**
     * Writes a safetensors file completely or not at all.
     *
     * @throws dev.troupe.weights.WeightException if it cannot be written
     */
    void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors);
}
