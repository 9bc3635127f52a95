package dev.troupe.tokenizer.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file that is written atomically. The bytes go to a temporary file next to it. {@link #commit} renames that file; without
 * a commit, {@link #close} deletes it.
 */
public final class WholeFile implements AutoCloseable {
    private final Path target;
    private final Path temporary;
    private final FileChannel channel;

    private WholeFile(Path target, Path temporary, FileChannel channel) {
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
    }

    /** Opens the temporary file; the process id in its name keeps two processes apart. */
    public static WholeFile create(Path target) throws IOException {
        Path absolute = target.toAbsolutePath();
        Path temporary = absolute
                .resolveSibling("." + absolute.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING);
        return new WholeFile(absolute, temporary, channel);
    }

    public FileChannel channel() {
        return channel;
    }

    /** Forces the bytes to the disk and closes the temporary file, so that only the rename can still fail. */
    public void seal() throws IOException {
        channel.force(true);
        channel.close();
    }

    /** Makes the file appear under its name, replacing an older one. */
    public void commit() throws IOException {
        if (channel.isOpen()) {
            seal();
        }
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
            // The rename itself is lost in a power cut unless the directory is on the disk too.
            directory.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(temporary);
    }
}
