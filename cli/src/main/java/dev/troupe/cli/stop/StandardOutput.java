package dev.troupe.cli.stop;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Optional;

/**
 * The standard output of this process, with the first failure to write to it.
 *
 * <p>A {@link PrintStream} throws nothing, so a command does not notice that its output was lost on a full disk. A reader
 * that leaves early, as {@code head} does, is no failure. Thread rule: any thread.
 */
public final class StandardOutput extends FilterOutputStream {
    /** The text of EPIPE. */
    private static final String READER_LEFT = "Broken pipe";

    private volatile IOException failure;

    private StandardOutput(OutputStream out) {
        super(out);
    }

    /** Makes {@code System.out} record its failures; call it before anything is printed. */
    public static StandardOutput watch() {
        StandardOutput watched = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        System.setOut(new PrintStream(new BufferedOutputStream(watched), true, System.out.charset()));
        return watched;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[]{(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            out.write(bytes, offset, length);
        } catch (IOException lost) {
            if (failure == null && !READER_LEFT.equals(lost.getMessage())) {
                failure = lost;
            }
            throw lost;
        }
    }

    /** Returns a sentence on lost output; empty if everything was written. */
    public Optional<String> complaint() {
        return Optional.ofNullable(failure).map(lost -> "could not write to the standard output (" + lost.getMessage()
                + "), so what is printed there is not complete; make room there, or send the output to another place.");
    }
}
