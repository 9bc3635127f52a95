package dev.troupe.cli.options;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The command that resumes a stopped run, quoted for a shell.
 *
 * @param command the words before the options: {@code node FILE NAME}
 * @param settings each without its {@code -s}
 * @param resumed the run or checkpoint that the stopped run had resumed
 */
public record NextCommand(List<String> command, List<String> settings, Optional<Path> resumed) {
    private static final Pattern PLAIN = Pattern.compile("[\\w./:=,@%+-]+");

    /** Returns the command for a run in one process, which reads its configuration from its directory. */
    public static NextCommand train(Optional<Path> config, RunOptions options) {
        List<String> command = config.map(file -> List.of("train", file.toString())).orElse(List.of("train"));
        return new NextCommand(command, options.settings(), options.resume());
    }

    public static NextCommand launch(ClusterFile file) {
        return new NextCommand(List.of("launch", file.config().toString()), file.options().settings(),
                file.options().resume());
    }

    public static NextCommand node(ClusterFile file, String name) {
        return new NextCommand(List.of("node", file.config().toString(), name), file.options().settings(),
                file.options().resume());
    }

    /** Returns the sentence that the run was stopped, with the command that resumes it. */
    public String sentence(Path directory, boolean hasCheckpoint) {
        return hasCheckpoint
                ? "Stopped before its end; resume with: " + with("--resume", directory)
                : "Stopped before its first checkpoint, so nothing can be resumed; begin again with: "
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
