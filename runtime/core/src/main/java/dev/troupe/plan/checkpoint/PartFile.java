package dev.troupe.plan.checkpoint;

import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.Sha256;
import dev.troupe.weights.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** The file of a part, compared with its entry in the manifest. */
final class PartFile {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final String SUFFIX = ".safetensors";

    private PartFile() {
    }

    /** Returns a unique name: a restarted rank may write its part while a thread of its predecessor still does. */
    static String newName(int rank) {
        return String.format(Locale.ROOT, "rank-%03d.%s%s", rank, UUID.randomUUID(), SUFFIX);
    }

    static CheckpointPart committed(CheckpointPart part) {
        int dot = part.file().indexOf('.');
        return new CheckpointPart(dot < 0 ? part.file() : part.file().substring(0, dot) + SUFFIX, part.byteCount(),
                part.sha256());
    }

    static CheckpointPart describe(Path file, String name) throws IOException {
        return new CheckpointPart(name, Files.size(file), sha256(file));
    }

    /** Checks only presence and size, which costs nothing. */
    static void requireThere(Path directory, CheckpointPart part) {
        Path file = directory.resolve(part.file());
        try {
            if (!Files.exists(file)) {
                throw DamageException.missing(file);
            }
            BoundedFile.requireRegular(file);
            long size = Files.size(file);
            if (size != part.byteCount()) {
                throw DamageException.damaged(file,
                        "it has " + size + " bytes, but the manifest has " + part.byteCount(), null);
            }
        } catch (IOException failure) {
            throw DamageException.unreadable(file, failure);
        }
    }

    /** Returns the damage of the content; empty if there is none. Reads the whole file, in pieces. */
    static Optional<DamageException> damageOf(Path directory, CheckpointPart part) {
        Path file = directory.resolve(part.file());
        try {
            return sha256(file).equals(part.sha256())
                    ? Optional.empty()
                    : Optional.of(DamageException.damaged(file, "its SHA-256 differs from the manifest's", null));
        } catch (IOException failure) {
            return Optional.of(DamageException.unreadable(file, failure));
        }
    }

    static void damage(Path file, long at) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, at);
            one.put(0, (byte) (one.get(0) ^ 1)).rewind();
            channel.write(one, at);
        }
    }

    private static String sha256(Path file) throws IOException {
        BoundedFile.requireRegular(file);
        try (FileChannel channel = FileChannel.open(file)) {
            MessageDigest digest = Sha256.digest();
            ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
            while (channel.read(buffer) >= 0) {
                digest.update(buffer.flip());
                buffer.clear();
                Progress.moved();
            }
            return HexFormat.of().formatHex(digest.digest());
        }
    }
}
