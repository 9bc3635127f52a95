package dev.troupe.checkpoint;

import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/** Where parts go: the one thing of a checkpoint that runs out of room. */
interface Disk {
    /** The disk of this machine, or one that it has mounted. */
    Disk REAL = new Disk() {
        @Override
        public long freeBytes(Path directory) throws IOException {
            return Files.getFileStore(directory).getUsableSpace();
        }

        @Override
        public void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors) {
            SafeTensorsWriter.write(file, metadata, tensors);
        }
    };

    /** What the file system of a directory that is there has to give. */
    long freeBytes(Path directory) throws IOException;

    /**
     * Writes a safetensors file whole or not at all.
     *
     * @throws dev.troupe.weights.WeightException
     *             where it cannot be written
     */
    void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors);
}
