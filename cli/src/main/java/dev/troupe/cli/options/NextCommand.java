package dev.troupe.cli.options;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The command by which a run that was stopped goes on, as a shell takes it.
 *
 * @param command
 *            with what stands before the options: {@code node FILE NAME}
 * @param settings
 *            each without its {@code -s}
 * @param resumed
 *            what the run that was stopped had gone on from
 */
public record NextCommand(List<String> command, List<String> settings, Optional<Path> resumed) {
    private static final Pattern PLAIN = Pattern.compile("[\\w./:=,@%+-]+");

    /** Of a run in one process, which reads its configuration from its directory. */
    public static NextCommand train(Optional<Path> config, RunOptions options) {
        List<String> command = config.map(file -> List.of("train", file.toString())).orElse(List.of("train"));
        return new NextCommand(command, options.settings(), options.resume());
    }

    /** Of all nodes of this machine. */
    public static NextCommand launch(ClusterFile file) {
        return new NextCommand(List.of("launch", file.config().toString()), file.options().settings(),
                file.options().resume());
    }

    /** Of one node. */
    public static NextCommand node(ClusterFile file, String name) {
        return new NextCommand(List.of("node", file.config().toString(), name), file.options().settings(),
                file.options().resume());
    }

    /**
     * Says that the run was stopped, and how it goes on.
     *
     * @param hasCheckpoint
     *            whether its directory has one
     */
    public String sentence(Path directory, boolean hasCheckpoint) {
        return hasCheckpoint
                ? "Stopped before its end; go on with: " + with("--resume", directory)
                : "Stopped before its first checkpoint, so there is nothing to go on from; begin again with: "
                        + with("--out", directory);
    }

    private String with(String option, Path directory) {
        StringBuilder line = new StringBuilder("./troupe");
        boolean hasOwnConfig = option.equals("--resume") && command.getFirst().equals("train");
        (hasOwnConfig ? List.of("train") : command).forEach(word -> line.append(' ').append(quoted(word)));
        if (!option.equals("--resume")) {
            resumed.ifPresent(from -> line.append(" --resume ").append(quoted(from.toString())));
        }
        line.append(' ').append(option).append(' ').append(quoted(directory.toString()));
        if (!hasOwnConfig) {
            line.append(settings.stream().map(setting -> " -s " + quoted(setting)).collect(Collectors.joining()));
        }
        return line.toString();
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
