package dev.troupe.run.cluster.guard;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.tokenizer.file.BoundedFile;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The file of a run's key, in the directory that its nodes share; no other user can read it. The first node that needs the
 * key creates it, and a resumed run keeps it.
 */
public final class KeyFile {
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int TEXT_CHARACTERS = 2 * RunKey.SECRET_BYTES + 1;

    private KeyFile() {
    }

    /**
     * Returns the key of the run. Creates the directory and the key if they are missing.
     *
     * @throws UsageException if the directory cannot be written to, or the file has no valid key
     */
    public static RunKey of(Path directory) {
        Path file = directory.resolve(RunDirectory.KEY);
        long beganNanos = System.nanoTime();
        String why = "it is not whole";
        do {
            try {
                RunDirectory.make(directory);
                String text = Files.exists(file) || !make(file) ? BoundedFile.text(file) : "";
                if (text.length() == TEXT_CHARACTERS) {
                    return RunKey.of(HexFormat.of().parseHex(text.strip()));
                }
            } catch (NoSuchFileException gone) {
                why = gone.toString(); // another node has made the directory as a test, and deleted it
            } catch (IOException | IllegalArgumentException unusable) {
                throw refused(file, unusable.toString());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        } while (System.nanoTime() - beganNanos < PATIENCE_NANOS);
        throw refused(file, why);
    }

    private static UsageException refused(Path file, String why) {
        return new UsageException("the key of the run, " + file + ", cannot be used (" + why
                + "): delete it while no node runs, or choose another directory with --out");
    }

    /**
     * Asks the other nodes, until one answers, whether they have this node's key; returns at once.
     *
     * @param port this node's
     * @param differs receives a sentence if one has another key
     */
    public static void check(DataPort port, Path directory, ClusterSpec cluster, NodeSpec self,
            Consumer<String> differs) {
        long beganNanos = System.nanoTime();
        Thread.ofVirtual().name("key-check").start(() -> {
            while (System.nanoTime() - beganNanos < cluster.joinTimeout().toNanos()) {
                for (NodeSpec node : cluster.nodes()) {
                    Optional<Boolean> shares = node.name().equals(self.name()) ? Optional.empty() : ask(port, node);
                    if (shares.isPresent()) {
                        if (!shares.get()) {
                            differs.accept("node " + self.name() + " was refused: its directory " + directory
                                    + " is not the run's, since its " + RunDirectory.KEY + " is not that of node "
                                    + node.name()
                                    + ": mount one directory on all machines in the same place, and name it"
                                    + " with the same --out");
                        }
                        return;
                    }
                }
                LockSupport.parkNanos(ASK_AGAIN_NANOS);
            }
        });
    }

    private static Optional<Boolean> ask(DataPort port, NodeSpec node) {
        try {
            return Optional.of(port.sharesKey(new InetSocketAddress(node.host(), node.dataPort())));
        } catch (IOException | RuntimeException _) {
            return Optional.empty(); // it does not run yet, or its name is not known yet
        }
    }

    /** Creates the file; returns false if it existed. */
    private static boolean make(Path file) throws IOException {
        byte[] secret = new byte[RunKey.SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        try (SeekableByteChannel channel = Files.newByteChannel(file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            channel.write(
                    ByteBuffer.wrap((HexFormat.of().formatHex(secret) + "\n").getBytes(StandardCharsets.US_ASCII)));
            return true;
        } catch (FileAlreadyExistsException _) {
            return false; // another node was quicker
        }
    }

    /**
     * Returns the directory of the run as the coordinator names it, after the check that it is this node's own.
     *
     * @throws UsageException if it is another, or does not exist
     */
    public static Path requireOwn(Path directory, Path named) {
        if (!named.normalize().equals(directory)) {
            throw new UsageException("the coordinator names the directory " + named + ", but this node has " + directory
                    + ": start all nodes with the same --out");
        }
        if (!Files.isDirectory(directory)) {
            throw new UsageException("the run's directory " + directory + " is not there: put it on storage that all"
                    + " machines mount in the same place, and name it with --out");
        }
        return directory;
    }
}
