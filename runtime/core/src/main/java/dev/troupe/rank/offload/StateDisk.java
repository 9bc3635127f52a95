package dev.troupe.rank.offload;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The disk for the state of ranks, which a test can make full. */
interface StateDisk {
    /** The file systems of this machine. The file has no name as soon as it is open, so it ends with its process. */
    StateDisk REAL = (directory, prefix) -> {
        Path path = Files.createTempFile(directory, prefix, ".state");
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            return new File() {
                @Override
                public int read(ByteBuffer target, long position) throws IOException {
                    return channel.read(target, position);
                }

                @Override
                public int write(ByteBuffer source, long position) throws IOException {
                    return channel.write(source, position);
                }

                @Override
                public void close() throws IOException {
                    channel.close();
                }
            };
        } finally {
            Files.deleteIfExists(path);
        }
    };

    /** An open file. */
    interface File extends AutoCloseable {
        int read(ByteBuffer target, long position) throws IOException;

        int write(ByteBuffer source, long position) throws IOException;

        @Override
        void close() throws IOException;
    }

    File create(Path directory, String prefix) throws IOException;
}
