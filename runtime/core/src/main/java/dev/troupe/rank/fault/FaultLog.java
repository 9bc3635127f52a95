package dev.troupe.rank.fault;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.troupe.rank.lines.JsonLog;
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
 * The log of the faults that have struck on all nodes of a run: {@code faults.jsonl} in its directory, a line each. A line
 * is written before its fault strikes, so that neither a replay nor a rank in another process meets the fault again.
 *
 * <p>Thread rule: any thread of any process.
 */
public final class FaultLog {
    /** Its name in the run's directory. */
    public static final String FILE = "faults.jsonl";

    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);
    private static final JsonMapper JSON = JsonMapper.builder().addModule(new Jdk8Module()).build();
    // A file lock belongs to the whole process, so its threads need a lock of their own.
    private static final Object TURN = new Object();

    /** The result of a claim of a fault. */
    enum Claim {
        /** The fault is written down, and strikes. */
        STRIKES,
        /** The fault has struck at this site already. */
        PAST,
        /** The fault has struck as often as it may. */
        USED_UP
    }

    private final Path file;

    FaultLog(Path runDirectory) {
        this.file = runDirectory.resolve(FILE);
    }

    /**
     * Reads the faults that have struck in a run so far.
     *
     * @throws UncheckedIOException if the file cannot be read, or is not one of this class
     */
    public static List<FiredFault> read(Path runDirectory) {
        Path file = runDirectory.resolve(FILE);
        if (!Files.exists(file)) {
            return List.of();
        }
        try {
            return parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + file, failure);
        }
    }

    /**
     * Makes a line of a fault and reads it, without a file, so that the first fault of a process is logged as quickly as any
     * other. Loading classes takes a tenth of a second, which would else count as the fault's.
     */
    void prepare(FiredFault example) {
        try {
            parse(JSON.writeValueAsString(example));
        } catch (JsonProcessingException failure) {
            throw new UncheckedIOException("cannot write a fault as a line of " + FILE, failure);
        }
    }

    /** Logs a fault, unless it has struck at this site or as often as it may. */
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

    /** Reads by the channel that holds the lock: to close another one of the same file would give the lock up. */
    private static String text(FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
            // A read may bring a part.
        }
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    }

    /** A line that a process left damaged is skipped: its fault counts as one that has not struck. */
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
