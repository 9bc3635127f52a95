package dev.troupe.bench.hop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Two processes of PyTorch with a group over Gloo. Thread rule: one thread. */
final class GlooPair implements Burst {
    private static final String SECONDS = "seconds ";

    private final String what;
    private final int bytes;
    private final List<Process> processes = new ArrayList<>();
    private final PrintStream orders;
    private final BufferedReader answers;

    /**
     * Starts both processes.
     *
     * @param what {@code hop}, or the name of the collective
     * @param before words in front of the command of process 1
     */
    GlooPair(String what, int bytes, List<String> script, String address, int port, String networkInterface,
            String... before) throws IOException {
        this.what = what;
        this.bytes = bytes;
        for (int rank = 0; rank < 2; rank++) {
            List<String> command = new ArrayList<>(rank == 0 ? List.of() : List.of(before));
            command.addAll(script);
            command.addAll(List.of(Integer.toString(rank), address, Integer.toString(port), networkInterface));
            processes.add(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
        }
        orders = new PrintStream(processes.getFirst().getOutputStream(), true);
        answers = processes.getFirst().inputReader();
    }

    @Override
    public double seconds(int count) {
        orders.println(String.format(Locale.ROOT, "%s %d %d", what, bytes, count));
        try {
            String line = answers.readLine();
            while (line != null && !line.startsWith(SECONDS)) {
                line = answers.readLine();
            }
            if (line == null) {
                throw new IllegalStateException("Gloo's process ended; its errors are above");
            }
            return Double.parseDouble(line.substring(SECONDS.length()));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public List<ProcessHandle> processes() {
        return processes.stream().map(Process::toHandle).toList();
    }

    @Override
    public void close() {
        orders.close();
        processes.forEach(Process::destroy);
    }

    static List<String> command(String python, Path script) {
        return List.of(python, script.toString());
    }
}
