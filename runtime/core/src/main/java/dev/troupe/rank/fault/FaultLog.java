package dev.troupe.rank.fault;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of the faults that have struck on all nodes of a run: {@code faults.jsonl} in its directory, one line each. The
 * line is written before the fault strikes, so the fault does not strike again in a replay or in another process. Thread
 * rule: any thread of any process.
 */
public final class FaultLog {
    public static final String FILE = "faults.jsonl";

    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);
    private static final JsonMapper JSON = JsonMapper.builder().addModule(new Jdk8Module()).build();
    // A file lock belongs to the whole process, so its threads need their own lock.
    private static final Object TURN = new Object();

    enum Claim {
        /** The fault is logged, and strikes. */
        STRIKES,
        /** The fault has struck at this site already. */
        PAST,
        /** The fault has struck the maximum number of times. */
        USED_UP
    }

    private final Path file;

    FaultLog(Path runDirectory) {
        this.file = runDirectory.resolve(FILE);
    }

    /**
     * Reads the faults that have struck in a run so far.
     *
     * @throws UncheckedIOException if the file cannot be read, or does not have this format
     */
    public static List<FiredFault> read(Path runDirectory) {
        Path file = runDirectory.resolve(FILE);
        if (!Files.exists(file)) {
            return List.of();
        }
        try {
            return parse(BoundedFile.text(file));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + file, failure);
        }
    }

    /**
     * Formats and parses a line in memory, so that the first fault of a process is logged as fast as later ones. Loading the
     * classes takes 0.1 s, which would count as an effect of the fault.
     */
    void prepare(FiredFault example) {
        try {
            parse(JSON.writeValueAsString(example));
        } catch (JsonProcessingException failure) {
            throw new UncheckedIOException("cannot write a fault as a line of " + FILE, failure);
        }
    }

    /** Logs a fault, unless it has struck at this site already, or the maximum number of times. */
    Claim claim(FiredFault fired, FaultSite site, int times) {
        synchronized (TURN) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                    StandardOpenOption.WRITE); FileLock _ = channel.lock()) {
                List<FiredFault> before = parse(text(channel)).stream().filter(fired::isOf).toList();
                if (times > 0 && before.size() >= times) {
                    return Claim.USED_UP;
                }
                if (before.stream().anyMatch(other -> other.isAt(site))) {
                    return Claim.PAST;
                }
                JsonLog.append(channel, JSON.writeValueAsString(fired));
                return Claim.STRIKES;
            } catch (IOException failure) {
                throw new UncheckedIOException("cannot log a fault in " + file, failure);
            }
        }
    }

    /** Reads by the channel that holds the lock: closing another channel of the same file would release the lock. */
    private static String text(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
            // A read may return only a part.
        }
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }

    /**
     * Parses the lines. A damaged line, from a process that died, is skipped: its fault counts as one that has not struck.
     */
    private static List<FiredFault> parse(String text) {
        List<FiredFault> fired = new ArrayList<>();
        for (String line : text.lines().toList()) {
            try {
                fired.add(JSON.readValue(line, FiredFault.class));
            } catch (JsonProcessingException damaged) {
                LOG.warn("a line of {} is damaged and skipped: {}", FILE, JsonDefect.wordsOf(damaged));
            }
        }
        return fired;
    }
}
